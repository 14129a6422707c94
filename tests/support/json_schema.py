# SPDX-License-Identifier: Apache-2.0
"""Checks a JSON value against a JSON Schema, as far as our own schemas go.

    json_schema.py SCHEMA FILE...

A keyword that is not handled is an error, so that nothing in a schema goes unchecked.
"""

import json
import re
import sys

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
}
IGNORED = {"$schema", "$id", "$defs", "title", "description"}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check(value, schema, root, at="$"):
    """Yields one line for each thing that is wrong."""
    for keyword, want in schema.items():
        if keyword in IGNORED:
            continue
        if keyword == "$ref":
            target = root
            for part in want.removeprefix("#/").split("/"):
                target = target[part]
            yield from check(value, target, root, at)
        elif keyword == "type":
            names = want if isinstance(want, list) else [want]
            if not any(is_type(value, name) for name in names):
                yield f"{at}: {value!r} is no {' or '.join(names)}"
        elif keyword == "const":
            if value != want:
                yield f"{at}: {value!r} is not {want!r}"
        elif keyword == "enum":
            if value not in want:
                yield f"{at}: {value!r} is none of {want}"
        elif keyword == "required":
            yield from (f"{at}: {name} is missing" for name in want if isinstance(value, dict) and name not in value)
        elif keyword == "properties":
            for name, part in want.items():
                if isinstance(value, dict) and name in value:
                    yield from check(value[name], part, root, f"{at}.{name}")
        elif keyword == "additionalProperties":
            known = schema.get("properties", {})
            for name in value if isinstance(value, dict) else []:
                if name not in known and want is False:
                    yield f"{at}: {name} does not belong here"
                elif name not in known and want is not True:
                    yield from check(value[name], want, root, f"{at}.{name}")
        elif keyword == "pattern":
            if isinstance(value, str) and not re.search(want, value):
                yield f"{at}: {value!r} does not match {want}"
        elif keyword == "items":
            for index, item in enumerate(value if isinstance(value, list) else []):
                yield from check(item, want, root, f"{at}[{index}]")
        elif keyword == "minimum":
            if is_type(value, "number") and value < want:
                yield f"{at}: {value} is below {want}"
        elif keyword == "maximum":
            if is_type(value, "number") and value > want:
                yield f"{at}: {value} is above {want}"
        elif keyword in ("minItems", "maxItems"):
            if isinstance(value, list) and (len(value) < want if keyword == "minItems" else len(value) > want):
                yield f"{at}: {len(value)} items, {keyword} is {want}"
        elif keyword == "allOf":
            for part in want:
                yield from check(value, part, root, at)
        elif keyword == "oneOf":
            tries = [list(check(value, part, root, at)) for part in want]
            if sum(not wrong for wrong in tries) != 1:
                yield f"{at}: fits {sum(not wrong for wrong in tries)} of {len(want)} forms: {min(tries, key=len)[:3]}"
        else:
            yield f"{at}: the schema's keyword {keyword} is not handled"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    wrong = []
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            wrong += [f"{path}: {line}" for line in check(json.load(file), schema, schema)]
    print("\n".join(wrong[:50]) or f"{len(sys.argv) - 2} files fit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
