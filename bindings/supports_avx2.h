/* Whether this processor runs code built for x86-64-v3. The build asks as well, where it compiles one variant only. */
#pragma once

static int supports_avx2(void) {
#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
    __builtin_cpu_init();
    /* -march=x86-64-v3 also uses BMI, which every processor with both of these but no BMI2 would lack. */
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
#else
    return 0;
#endif
}
