# SPDX-License-Identifier: Apache-2.0
"""report.proto and report.schema.json describe the same members.

    report_contract.py PROTO_FOLDER
"""

import json
import pathlib
import re
import sys

# Message of the .proto: where its members are in the schema.
PLACES = {
    "Report": "report", "Program": "report/properties/program", "Device": "report/properties/device",
    "Coverage": "report/properties/coverage/items", "Api": "api/oneOf/1", "Frame": "frame", "AccessLine": "access_line", "DataObject": "object",
    "Peak": "peak", "LiveObject": "peak/properties/objects/items",
    "FailedAllocation": "report/properties/failed_allocations/items", "Finding": "finding", "Evidence": "evidence",
    "Savings": "report/properties/savings", "SmartPool": "report/properties/savings/properties/smartpool/oneOf/1",
    "AutoSwap": "report/properties/savings/properties/autoswap/oneOf/1", "Timing": "report/properties/timing/oneOf/1",
    "LineFixes": "line_fixes", "DevicePeak": "device_peak", "Pools": "report/properties/pools/oneOf/1", "Curve": "curve",
    "Suppressed": "report/properties/suppressed/items", "DifferingSite": "differing_site",
}
# Members of the form for several traces, which the schema keeps apart from a report's.
MERGED = {"trace", "programs", "worst", "differing_sites"}


def main():
    folder = pathlib.Path(sys.argv[1])
    definitions = json.loads((folder / "report.schema.json").read_text())["$defs"]
    text = (folder / "report.proto").read_text()
    wrong = []
    for message, place in PLACES.items():
        body = re.search(r"message " + message + r" \{(.*?)\n\}", text, re.S).group(1)
        fields = set(re.findall(r"^\s+(?:repeated |optional )?\w+ (\w+) = \d+;", body, re.M)) - MERGED
        schema = definitions
        for step in place.split("/"):
            schema = schema[int(step)] if step.isdigit() else schema[step]
        members = set(schema["properties"])
        if fields != members:
            wrong.append(f"{message}: only in the .proto {sorted(fields - members)}, only in the schema {sorted(members - fields)}")
    print("\n".join(wrong) or "the same members")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
