#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the schemas as a C++ header: embed.py OUT FILE..."""

import json
import sys

with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write("// SPDX-License-Identifier: Apache-2.0\n// Made from tools/lab/schema by embed.py.\n")
    out.write("namespace assay::lab {\ninline constexpr const char* kSchemaTexts[] = {\n")
    for path in sorted(sys.argv[2:]):
        with open(path, encoding="utf-8") as source:
            out.write('R"schema(' + json.dumps(json.load(source)) + ')schema",\n')
    out.write("};\n}  // namespace assay::lab\n")
