/* SPDX-License-Identifier: Apache-2.0 */
/* Where CPython's own headers say that things lie; for python_abi_test. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stddef.h>

#include <internal/pycore_frame.h>

const size_t kPythonLayout[] = {
    PY_VERSION_HEX >> 16,
    offsetof(PyThreadState, cframe),
    offsetof(_PyCFrame, current_frame),
    offsetof(_PyInterpreterFrame, f_code),
    offsetof(_PyInterpreterFrame, previous),
    offsetof(_PyInterpreterFrame, prev_instr),
    offsetof(_PyInterpreterFrame, is_entry),
    offsetof(PyObject, ob_type),
    offsetof(PyCodeObject, co_firstlineno),
    offsetof(PyCodeObject, co_filename),
    offsetof(PyCodeObject, co_qualname),
    offsetof(PyCodeObject, co_linetable),
    offsetof(PyCodeObject, co_code_adaptive),
    offsetof(PyVarObject, ob_size),
    offsetof(PyBytesObject, ob_sval),
    offsetof(PyASCIIObject, length),
    offsetof(PyASCIIObject, state),
    sizeof(PyASCIIObject),
    sizeof(PyCompactUnicodeObject),
};
