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

# What objects are compiled with: bellcrank_add_options(NAME [option of the compiler ...]). Eigen aligns by the same bounds
# in all of them: what one allocates, another frees.
function(bellcrank_add_options name)
  add_library(${name} INTERFACE)
  target_compile_options(${name} INTERFACE -fno-math-errno ${ARGN} -Wall -Wextra -Wno-psabi
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>) # GCC 12 warns of its own std::string (its bug 105651)
  target_compile_definitions(${name} INTERFACE EIGEN_MPL2_ONLY EIGEN_MAX_ALIGN_BYTES=32 EIGEN_MAX_STATIC_ALIGN_BYTES=32)
  target_link_libraries(${name} INTERFACE Eigen3::Eigen Threads::Threads)
endfunction()

# OBJECT libraries, so that objects which only register themselves are never dropped.
function(bellcrank_add_layer layer target options)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cpp/${layer}/*.cpp")
  add_library(${target} OBJECT ${sources})
  if(NOT layer IN_LIST BELLCRANK_SEPARATE_LAYERS)
    bellcrank_compile_together(${target})
  endif()
  target_link_libraries(${target} PRIVATE ${options} bellcrank_${layer}_headers)
  if(layer IN_LIST BELLCRANK_EXACT_LAYERS)
    target_compile_options(${target} PRIVATE -ffp-contract=off)
  endif()
endfunction()

# Compiled once, for any processor, and part of every variant: the bindings and the layers that take no time of a run.
# They see no lanes (spatial/lanes.hpp refuses), so that their types are the same in all variants.
bellcrank_add_options(bellcrank_options)
set(variant_layers ${BELLCRANK_LAYERS})
list(REMOVE_ITEM variant_layers ${BELLCRANK_SHARED_LAYERS})
foreach(layer IN LISTS BELLCRANK_SHARED_LAYERS)
  bellcrank_add_layer(${layer} bellcrank_${layer} bellcrank_options)
endforeach()
list(FILTER BELLCRANK_BINDINGS EXCLUDE REGEX "/module\\.cpp$")
nanobind_build_library(nanobind-static)
set_target_properties(nanobind-static PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
add_library(bellcrank_bindings OBJECT ${BELLCRANK_BINDINGS} ${BELLCRANK_RIG_SOURCES})
set_target_properties(bellcrank_bindings PROPERTIES UNITY_BUILD ${BELLCRANK_UNITY} UNITY_BUILD_BATCH_SIZE 12)
target_compile_options(bellcrank_bindings PRIVATE $<$<CONFIG:Release>:-O1>)
target_include_directories(bellcrank_bindings PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/generated")
target_link_libraries(bellcrank_bindings PRIVATE bellcrank_options nanobind-static)
foreach(layer IN LISTS BELLCRANK_LAYERS)
  target_link_libraries(bellcrank_bindings PRIVATE bellcrank_${layer}_headers)
endforeach()

# bellcrank_add_core(VARIANT LANES n [FLAGS ...]): the extension module _core_VARIANT, kernels compiled with FLAGS.
function(bellcrank_add_core variant)
  cmake_parse_arguments(ARG "" "LANES" "FLAGS" ${ARGN})
  set(options bellcrank_options_${variant})
  bellcrank_add_options(${options} ${ARG_FLAGS})
  target_compile_definitions(${options} INTERFACE BELLCRANK_LANES=${ARG_LANES})

  # A variant is one nanobind domain: both modules may be loaded side by side without sharing types.
  set(module _core_${variant})
  nanobind_add_module(${module} NB_STATIC NB_DOMAIN bellcrank_${variant} NOMINSIZE bindings/module.cpp)
  target_include_directories(${module} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/generated")
  target_link_libraries(${module} PRIVATE ${options})
  foreach(layer IN LISTS variant_layers)
    bellcrank_add_layer(${layer} bellcrank_${layer}_${variant} ${options})
    target_link_libraries(${module} PRIVATE bellcrank_${layer}_${variant})
  endforeach()
  # After the kernels: of an inline function that both hold the linker keeps the first, theirs.
  foreach(layer IN LISTS BELLCRANK_SHARED_LAYERS)
    target_link_libraries(${module} PRIVATE bellcrank_${layer})
  endforeach()
  target_link_libraries(${module} PRIVATE bellcrank_bindings)

  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  string(JOIN " " shown_flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} -fno-math-errno ${ARG_FLAGS})
  target_compile_definitions(${module} PRIVATE
    BELLCRANK_MODULE=${module} "BELLCRANK_VARIANT=\"${variant}\"" "BELLCRANK_FLAGS=\"${shown_flags}\"")
  install(TARGETS ${module} LIBRARY DESTINATION bellcrank)
endfunction()
