MODULES: dict[str, str]
IN_NAMESPACES: dict[str, str]
PUBLIC: list[str]
