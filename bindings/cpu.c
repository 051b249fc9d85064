/* Tells, without needing any of the core, which build of the core this processor can run. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject* supports_avx2(PyObject* self, PyObject* unused) {
    (void)self;
    (void)unused;
#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
    __builtin_cpu_init();
    /* -march=x86-64-v3 also uses BMI, which every processor with both of these but no BMI2 would lack. */
    return PyBool_FromLong(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"));
#else
    Py_RETURN_FALSE;
#endif
}

static PyMethodDef methods[] = {
    {"supports_avx2", supports_avx2, METH_NOARGS,
     "supports_avx2() -> bool\n\nWhether this processor runs code built for x86-64-v3 (AVX2, FMA, BMI)."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_cpu", .m_doc = "What the processor supports.", .m_size = 0, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__cpu(void) { return PyModule_Create(&module); }
