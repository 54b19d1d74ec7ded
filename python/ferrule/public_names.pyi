MODULES: dict[str, str]
PUBLIC: list[str]
