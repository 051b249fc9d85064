# The folders of cpp/, lowest layer first, and what each may include. A folder sees its own headers and those of the
# folders listed for it (transitively), as "folder/header.hpp"; any other include is not found.
set(BELLCRANK_LAYERS interruption matrices spatial painting geometry functions programs expression joints constraints forces contacts model tangents linalg cones impulses closing bodies trees assembly statics assemblies adaptive derivation formulations integrate)
# Here every rounding is as written, in both variants: programs and what they call agree bit for bit with native code.
set(BELLCRANK_EXACT_LAYERS functions programs)
# Here no time of a step is spent and no lanes are seen: compiled once for all variants (variants.cmake).
set(BELLCRANK_SHARED_LAYERS interruption matrices painting expression statics derivation)
# Here each file is short and defines the same few names for itself.
set(BELLCRANK_SEPARATE_LAYERS functions forces)

set(interruption_sees)
set(matrices_sees) # dense matrices decomposed by Eigen, whose templates take longer to compile than most folders
set(spatial_sees interruption)
set(painting_sees spatial) # pictures of meshes, of whatever they are
set(geometry_sees spatial) # shapes and poses only: contact forces and models lie above
set(functions_sees spatial)
set(programs_sees functions) # expressions end as programs; user-written joints and forces are programs
set(expression_sees programs)
set(joints_sees expression matrices) # a coordinate is written once, for numbers and for expressions
set(constraints_sees joints) # a constraint is rows over coordinates, a force an effort along one
set(forces_sees joints) # so is an effort
set(contacts_sees geometry) # laws between shapes, points and what they remember; models lie above
set(model_sees constraints forces contacts expression) # what users write as formulas is differentiated when the model is made
set(tangents_sees model) # equations of motion along directions; what solves them lies above
set(linalg_sees model)
set(cones_sees linalg) # one time step of contact over an abstract S; contacts and models lie elsewhere
set(impulses_sees cones) # a step of a model's bodies as one problem of cones
set(closing_sees impulses) # redundant rows and projections onto rows, in any coordinates
set(bodies_sees closing tangents)
set(trees_sees closing)
set(assembly_sees linalg)
set(statics_sees tangents)
set(assemblies_sees linalg)
set(adaptive_sees trees)
set(derivation_sees trees expression)
set(formulations_sees bodies impulses linalg trees assemblies adaptive derivation)
set(integrate_sees linalg tangents)

# One include directory per folder, holding nothing but a link to that folder.
foreach(layer IN LISTS BELLCRANK_LAYERS)
  set(include_dir "${CMAKE_CURRENT_BINARY_DIR}/include/${layer}")
  file(MAKE_DIRECTORY "${include_dir}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/cpp/${layer}" "${include_dir}/${layer}" SYMBOLIC)
  add_library(bellcrank_${layer}_headers INTERFACE)
  target_include_directories(bellcrank_${layer}_headers INTERFACE "${include_dir}")
  foreach(lower IN LISTS ${layer}_sees)
    target_link_libraries(bellcrank_${layer}_headers INTERFACE bellcrank_${lower}_headers)
  endforeach()
endforeach()
