# BELLCRANK_SANITIZE: the core under the address and undefined-behaviour sanitizers (`make sanitize`). Conversions of
# numbers that do not fit an integer are among the checks, divisions by zero are not: IEEE arithmetic defines them, and
# expressions and results rely on it. Nor is memcpy of nothing from nowhere, which nanobind does with empty arrays.
option(BELLCRANK_SANITIZE "Compile the core with address and undefined-behaviour sanitizers" OFF)
if(BELLCRANK_SANITIZE)
  set(sanitizers -fsanitize=address,undefined,float-cast-overflow -fno-sanitize=nonnull-attribute
                 -fno-omit-frame-pointer)
  # Assertions of the standard library say more, and earlier, than a bad address; those of Eigen come with Debug.
  add_compile_options(${sanitizers} -O1 -g1)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(${sanitizers})
endif()
