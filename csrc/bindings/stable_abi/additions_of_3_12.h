// Declares the functions that the stable ABI of CPython 3.12 adds to that of 3.11, so that the headers of 3.11 suffice
// to compile for 3.12 and later. Included before all else. The declarations are those of
// https://docs.python.org/3.12/c-api.
#pragma once

#include <Python.h>

#include <structmember.h>

#include <cstdio>
#include <cstring>

#if PY_VERSION_HEX < 0x030C0000
#undef PY_VERSION_HEX
#define PY_VERSION_HEX 0x030C0000  // for nanobind

// Since 3.12 some objects are immortal, and only Python itself knows how to count the references to them.
#undef Py_INCREF
#undef Py_DECREF
#undef Py_XINCREF
#undef Py_XDECREF
#define Py_INCREF(object) Py_IncRef(reinterpret_cast<PyObject*>(object))
#define Py_DECREF(object) Py_DecRef(reinterpret_cast<PyObject*>(object))
#define Py_XINCREF(object) Py_IncRef(reinterpret_cast<PyObject*>(object))
#define Py_XDECREF(object) Py_DecRef(reinterpret_cast<PyObject*>(object))

#undef Py_NewRef  // the functions that they hide
#undef Py_XNewRef

#define PY_VECTORCALL_ARGUMENTS_OFFSET (static_cast<size_t>(1) << (8 * sizeof(size_t) - 1))
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_READONLY READONLY
#define Py_mod_multiple_interpreters 3
#define Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED (reinterpret_cast<void*>(0))

extern "C" {
typedef PyObject* (*vectorcallfunc)(PyObject* callable, PyObject* const* args, size_t nargsf, PyObject* kwnames);
PyAPI_FUNC(PyObject*) PyObject_Vectorcall(PyObject*, PyObject* const*, size_t, PyObject*);
PyAPI_FUNC(PyObject*) PyObject_VectorcallMethod(PyObject*, PyObject* const*, size_t, PyObject*);
PyAPI_FUNC(PyObject*) PyVectorcall_Call(PyObject*, PyObject*, PyObject*);
PyAPI_FUNC(Py_ssize_t) PyVectorcall_NARGS(size_t);
PyAPI_FUNC(PyObject*) PyErr_GetRaisedException(void);
PyAPI_FUNC(void) PyErr_SetRaisedException(PyObject*);
PyAPI_FUNC(PyObject*) PyType_FromMetaclass(PyTypeObject*, PyObject*, PyType_Spec*, PyObject*);
PyAPI_FUNC(void*) PyObject_GetTypeData(PyObject*, PyTypeObject*);
}
#endif
