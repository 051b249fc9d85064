/* Tells, without needing any of the core, which build of the core this processor can run. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "supports_avx2.h"

static PyObject* answer(PyObject* self, PyObject* unused) {
    (void)self;
    (void)unused;
    return PyBool_FromLong(supports_avx2());
}

static PyMethodDef methods[] = {
    {"supports_avx2", answer, METH_NOARGS,
     "supports_avx2() -> bool\n\nWhether this processor runs code built for x86-64-v3 (AVX2, FMA, BMI)."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_cpu", .m_doc = "What the processor supports.", .m_size = 0, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__cpu(void) { return PyModule_Create(&module); }
