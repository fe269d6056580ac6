# Finds what brio links with, and says which Debian package brings what is missing.
#
# Sets  brio_dependencies   targets and libraries to link with here
#       brio_static_needs   what a program that links libbrio.a must add, for the CMake package
#       brio_pc_requires, brio_pc_libs   the same for brio.pc

set(brio_dependencies m ${CMAKE_DL_LIBS})
set(brio_static_needs m ${CMAKE_DL_LIBS})
set(brio_pc_requires "")
set(brio_pc_libs -lm)
foreach(library ${CMAKE_DL_LIBS})
  list(APPEND brio_pc_libs -l${library})
endforeach()

function(missing what package option)
  message(FATAL_ERROR "brio needs ${what}. On Debian: apt-get install ${package} (`make` does it). "
    "To build without it: -D${option}=OFF.")
endfunction()

if(BRIO_CHOLMOD)
  find_path(BRIO_CHOLMOD_INCLUDE cholmod.h PATH_SUFFIXES suitesparse)
  find_library(BRIO_CHOLMOD_LIBRARY cholmod)
  find_library(BRIO_SUITESPARSECONFIG_LIBRARY suitesparseconfig)
  mark_as_advanced(BRIO_CHOLMOD_INCLUDE BRIO_CHOLMOD_LIBRARY BRIO_SUITESPARSECONFIG_LIBRARY)
  if(NOT BRIO_CHOLMOD_INCLUDE OR NOT BRIO_CHOLMOD_LIBRARY OR NOT BRIO_SUITESPARSECONFIG_LIBRARY)
    missing("CHOLMOD of SuiteSparse" "libsuitesparse-dev libopenblas0-pthread" BRIO_CHOLMOD)
  endif()
  add_library(brio_cholmod INTERFACE)
  target_include_directories(brio_cholmod SYSTEM INTERFACE ${BRIO_CHOLMOD_INCLUDE})
  target_link_libraries(brio_cholmod INTERFACE ${BRIO_CHOLMOD_LIBRARY} ${BRIO_SUITESPARSECONFIG_LIBRARY})
  list(APPEND brio_dependencies brio_cholmod)
  list(APPEND brio_static_needs cholmod suitesparseconfig)
  list(APPEND brio_pc_libs -lcholmod -lsuitesparseconfig)
endif()

if(BRIO_FYAML)
  find_package(PkgConfig)
  if(NOT PKG_CONFIG_FOUND)
    missing("pkg-config, to find libfyaml" "pkg-config" BRIO_FYAML)
  endif()
  pkg_check_modules(FYAML IMPORTED_TARGET libfyaml)
  if(NOT FYAML_FOUND)
    missing("libfyaml" "libfyaml-dev" BRIO_FYAML)
  endif()
  list(APPEND brio_dependencies PkgConfig::FYAML)
  list(APPEND brio_static_needs fyaml)
  list(APPEND brio_pc_requires libfyaml)
endif()

if(BRIO_OPENMP)
  find_package(OpenMP COMPONENTS C)
  if(NOT OpenMP_C_FOUND)
    missing("OpenMP for ${CMAKE_C_COMPILER_ID}" "gcc (or libomp-dev for clang)" BRIO_OPENMP)
  endif()
  list(APPEND brio_dependencies OpenMP::OpenMP_C)
  list(APPEND brio_static_needs OpenMP::OpenMP_C)
  foreach(library ${OpenMP_C_LIB_NAMES})
    list(APPEND brio_pc_libs -l${library})
  endforeach()
endif()

list(JOIN brio_pc_requires " " brio_pc_requires)
list(JOIN brio_pc_libs " " brio_pc_libs)
