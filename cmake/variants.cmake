# The bindings: every bindings/NAME.cpp defines `void bellcrank::bind_NAME(nanobind::module_&)`; the generated header
# calls them in layer order, so that adding a file needs no edit here or in module.cpp.
file(GLOB BELLCRANK_BINDINGS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/bindings/*.cpp")
option(BELLCRANK_RIGS "With the formulations, force laws and oracles of tests/rigs, for tests" OFF)
if(BELLCRANK_RIGS)
  file(GLOB rigs CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/rigs/*.cpp")
  list(APPEND BELLCRANK_BINDINGS ${rigs})
  file(GLOB BELLCRANK_RIG_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/rigs/*/*.cpp")
endif()
set(binding_names)
foreach(file IN LISTS BELLCRANK_BINDINGS)
  get_filename_component(name "${file}" NAME_WE)
  list(APPEND binding_names ${name})
endforeach()
list(REMOVE_ITEM binding_names module)
set(ordered_names)
set(binding_order ${BELLCRANK_LAYERS})
list(INSERT binding_order 0 system) # the base class of all that is bound of a System
foreach(layer IN LISTS binding_order)
  if(layer IN_LIST binding_names)
    list(APPEND ordered_names ${layer})
    list(REMOVE_ITEM binding_names ${layer})
  endif()
endforeach()
set(BIND_DECLARATIONS "")
set(BIND_CALLS "")
foreach(name IN LISTS ordered_names binding_names)
  string(APPEND BIND_DECLARATIONS "void bind_${name}(nanobind::module_& m);\n")
  string(APPEND BIND_CALLS "    bind_${name}(m);\n")
endforeach()
configure_file(cmake/bindings.hpp.in "${CMAKE_CURRENT_BINARY_DIR}/generated/bindings.hpp" @ONLY)

# The files of a folder are compiled together: parsing their headers and instantiating Eigen and nanobind takes most of the
# time. OFF compiles each for itself, as `make sanitize` does, and so finds what a file forgot to include.
option(BELLCRANK_UNITY "Compile the files of a folder together" ON)

function(bellcrank_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BELLCRANK_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    file(RELATIVE_PATH folder "${CMAKE_CURRENT_SOURCE_DIR}" "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
endfunction()

# bellcrank_add_core(VARIANT LANES n [FLAGS ...]): the extension module _core_VARIANT, all of cpp/ and bindings/
# compiled with FLAGS. OBJECT libraries, so that objects which only register themselves are never dropped.
function(bellcrank_add_core variant)
  cmake_parse_arguments(ARG "" "LANES" "FLAGS" ${ARGN})
  set(flags -fno-math-errno ${ARG_FLAGS})

  set(options bellcrank_options_${variant})
  add_library(${options} INTERFACE)
  target_compile_options(${options} INTERFACE ${flags} -Wall -Wextra -Wno-psabi
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>) # GCC 12 warns of its own std::string (its bug 105651)
  target_compile_definitions(${options} INTERFACE BELLCRANK_LANES=${ARG_LANES} EIGEN_MPL2_ONLY)
  target_link_libraries(${options} INTERFACE Eigen3::Eigen Threads::Threads)

  # A variant is one nanobind domain: both modules may be loaded side by side without sharing types. NOMINSIZE keeps
  # -O3 in the bindings too: an inline function compiled there must not be a slower twin of the core's.
  set(module _core_${variant})
  nanobind_add_module(${module} NB_STATIC NB_DOMAIN bellcrank_${variant} NOMINSIZE ${BELLCRANK_BINDINGS} ${BELLCRANK_RIG_SOURCES})
  set_target_properties(${module} PROPERTIES UNITY_BUILD ${BELLCRANK_UNITY} UNITY_BUILD_BATCH_SIZE 6)
  target_include_directories(${module} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/generated")
  target_link_libraries(${module} PRIVATE ${options})

  foreach(layer IN LISTS BELLCRANK_LAYERS)
    target_link_libraries(${module} PRIVATE bellcrank_${layer}_headers)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cpp/${layer}/*.cpp")
    if(sources)
      set(target bellcrank_${layer}_${variant})
      add_library(${target} OBJECT ${sources})
      if(NOT layer IN_LIST BELLCRANK_SEPARATE_LAYERS)
        bellcrank_compile_together(${target})
      endif()
      target_link_libraries(${target} PRIVATE ${options} bellcrank_${layer}_headers)
      if(layer IN_LIST BELLCRANK_EXACT_LAYERS)
        target_compile_options(${target} PRIVATE -ffp-contract=off)
      endif()
      target_link_libraries(${module} PRIVATE ${target})
    endif()
  endforeach()

  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  string(JOIN " " shown_flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} ${flags})
  target_compile_definitions(${module} PRIVATE
    BELLCRANK_MODULE=${module} "BELLCRANK_VARIANT=\"${variant}\"" "BELLCRANK_FLAGS=\"${shown_flags}\"")
  install(TARGETS ${module} LIBRARY DESTINATION bellcrank)
endfunction()
