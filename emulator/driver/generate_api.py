#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the export layer of libcuda.so.1 from the toolkit's cuda.h and functions.txt.

Each function of functions.txt gets a wrapper that tells observers of the call and calls the function
of the same name (or the one named) in namespace drgpum::emulator::driver; each other function of the
header gets one that says once that it is not served. Nothing of the header is kept in the repository.
"""

import argparse
import pathlib
import re
import subprocess
import sys

PROTOTYPE = re.compile(r"\bCUresult\s+(cu[A-Z0-9]\w*)\s*\(([^;{}]*)\)\s*;")
MACRO = re.compile(r"#define (cu[A-Z]\w*) (?:__CUDA_API_PT[DS][SZ]\()?(cu[A-Z]\w*)\)?$", re.M)
# Those of cudaProfiler.h, which not every toolkit carries.
PROFILER = """
CUresult cuProfilerInitialize(const char* configFile, const char* outputFile, int outputMode);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
"""


def preprocess(arguments, *options):
    source = "#include <cuda.h>\n"
    command = [arguments.compiler, "-E", "-x", "c++", "-I", arguments.include, *options, "-"]
    return subprocess.run(command, input=source, check=True, capture_output=True, text=True).stdout


def parse_parameters(text):
    """[(declaration, name)] of a parameter list."""
    parameters = []
    for part in text.split(","):
        part = " ".join(part.split())
        if part in ("", "void"):
            continue
        name = re.search(r"(\w+)\s*(\[\w*\])?$", part)
        parameters.append((part, name.group(1)))
    return parameters


def parse_prototypes(text):
    found = {}
    for match in PROTOTYPE.finditer(text):
        found.setdefault(match.group(1), parse_parameters(match.group(2)))
    return found


def read_functions(path):
    """{export: (callback id, implementation, first version, served before cuInit)}"""
    functions = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                options = dict(word.split("=") for word in words[2:])
                functions[words[1]] = (int(words[0]), options.get("as"), int(options.get("since", 0)),
                                       "early" in options)
    return functions


def base_of(name):
    return re.sub(r"_ptsz$|_ptds$", "", name)


def is_per_thread(name):
    return base_of(name) != name


def implementation_of(name, functions):
    return functions[name][1] or base_of(name)


def declare(functions, prototypes):
    lines, seen = [], set()
    for name in functions:
        target = implementation_of(name, functions)
        if target in seen:
            continue
        seen.add(target)
        lines.append("CUresult %s(%s);" % (target, ", ".join(p for p, _ in prototypes[name])))
    return lines


def wrapper(name, parameters, functions):
    number, _, _, early = functions[name]
    target = implementation_of(name, functions)
    names = [n for _, n in parameters]
    launched = [n for p, n in parameters if p.startswith("CUfunction ")]
    launched = launched[0] if launched and name.startswith("cuLaunch") else "nullptr"
    return """CUresult %(name)s(%(list)s) {
  static constexpr ApiFunction function_{%(number)d, "%(name)s", %(thread)s, %(early)s};
  Parameters_%(name)s parameters_{%(values)s};
  return call_api(function_, &parameters_, %(launched)s, [&] { return drgpum::emulator::driver::%(target)s(%(arguments)s); });
}
""" % {
        "name": name, "list": ", ".join(p for p, _ in parameters) or "void",
        "number": number, "thread": "true" if is_per_thread(name) else "false",
        "early": "true" if early else "false", "values": ", ".join(names), "launched": launched, "target": target,
        "arguments": ", ".join("parameters_." + n for n in names),
    }


def structs(functions, prototypes):
    for name in functions:
        fields = "".join("  %s;\n" % field for field, _ in prototypes[name])
        yield "struct Parameters_%s {\n%s};\n" % (name, fields)


def interface_checks(functions, prototypes, include):
    """Our numbers and structs against NVIDIA's, for a test to compile; it lacks some structs."""
    path = pathlib.Path(include, "generated_cuda_meta.h")
    known = set(re.findall(r"\b(cu\w+)_params;", path.read_text())) if path.exists() else set()
    for name, (number, *_) in functions.items():
        yield "static_assert(CUPTI_DRIVER_TRACE_CBID_%s == %d);\n" % (name, number)
        for _, field in prototypes[name] if name in known else []:
            yield ("static_assert(offsetof(Parameters_%s, %s) == offsetof(%s_params, %s));\n"
                   % (name, field, name, field))


def stub(name, parameters):
    types = ", ".join(p for p, _ in parameters) or "void"
    unused = "".join("  (void)%s;\n" % n for _, n in parameters)
    return "CUresult %s(%s) {\n%s  return not_served(\"%s\");\n}\n" % (name, types, unused, name)


def entry_points(functions, prototypes, macros):
    """Rows of (name asked for, exported name, version from which on it is meant, per thread)."""
    rows = []
    for name in sorted(prototypes):
        plain = re.sub(r"_v\d+$", "", base_of(name))
        since = functions[name][2] if name in functions else 0
        current = macros.get(plain, plain)
        if name in functions and not since and base_of(name) != current and plain != base_of(name):
            continue
        if name in functions and (since or base_of(name) == current):
            rows.append((plain, name, since, is_per_thread(name)))
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--functions", required=True)
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()

    text = preprocess(arguments, "-P", "-D__CUDA_API_VERSION_INTERNAL")
    prototypes = parse_prototypes(text + PROFILER)
    functions = read_functions(arguments.functions)
    unknown = [name for name in functions if name not in prototypes]
    for name in unknown:
        print("note: this toolkit has no %s" % name, file=sys.stderr)
        del functions[name]
    macros = dict(MACRO.findall(preprocess(arguments, "-dM")))

    with open(arguments.output + "/api_declarations.h", "w", encoding="utf-8") as file:
        file.write("// Generated by generate_api.py.\n#pragma once\n#include <cuda.h>\n"
                   "namespace drgpum::emulator::driver {\n")
        file.write("\n".join(declare(functions, prototypes)))
        file.write("\n}  // namespace drgpum::emulator::driver\n")

    with open(arguments.output + "/api_parameters.h", "w", encoding="utf-8") as file:
        file.write("// Generated by generate_api.py.\n#pragma once\n#include <cuda.h>\n")
        file.writelines(structs(functions, prototypes))
    with open(arguments.output + "/interface_checks.h", "w", encoding="utf-8") as file:
        file.write("// Generated by generate_api.py.\n")
        file.writelines(interface_checks(functions, prototypes, arguments.include))

    with open(arguments.output + "/api_exports.cpp", "w", encoding="utf-8") as file:
        file.write("// Generated by generate_api.py.\n#define __CUDA_API_VERSION_INTERNAL\n"
                   "#include <cuda.h>\n#include \"emulator/driver/api_declarations.h\"\n"
                   "#include \"emulator/driver/api_parameters.h\"\n"
                   "#include \"emulator/driver/call_api.h\"\n"
                   "using namespace drgpum::emulator::driver;\n"
                   "#pragma GCC visibility push(default)\nextern \"C\" {\n")
        for name in sorted(prototypes):
            file.write(wrapper(name, prototypes[name], functions) if name in functions
                       else stub(name, prototypes[name]))
        file.write("}\n#pragma GCC visibility pop\n")
        file.write("namespace drgpum::emulator::driver {\nextern const EntryPoint kEntryPoints[];\n"
                   "extern const std::size_t kEntryPointCount;\nconst EntryPoint kEntryPoints[] = {\n")
        rows = entry_points(functions, prototypes, macros)
        for plain, name, since, thread in rows:
            file.write('  {"%s", "%s", reinterpret_cast<void*>(&::%s), %d, %s},\n'
                       % (plain, name, name, since, "true" if thread else "false"))
        file.write("};\nconst std::size_t kEntryPointCount = %d;\n" % len(rows))
        errors = re.findall(r"\b(CUDA_(?:SUCCESS|ERROR_\w+))\s*=", text)
        file.write("extern const ErrorName kErrorNames[];\nextern const std::size_t kErrorNameCount;\n"
                   "const ErrorName kErrorNames[] = {\n")
        for name in errors:
            file.write('  {%s, "%s"},\n' % (name, name))
        file.write("};\nconst std::size_t kErrorNameCount = %d;\n}\n" % len(errors))


if __name__ == "__main__":
    main()
