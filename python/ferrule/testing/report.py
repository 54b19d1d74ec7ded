def summary_text(records):
    from collections import Counter

    return str(Counter(r["state"] for r in records)) + "\n"


def write_report(records, path):
    pass
