# Installs into a directory of the build and builds one small program in every way that a user would.
# Called by CTest with BUILD, CC, VERSION.

set(root ${BUILD}/package_test)
set(prefix ${root}/prefix)
file(REMOVE_RECURSE ${root})
file(MAKE_DIRECTORY ${root}/consumer)

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${root} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_version program)
  run(${program})
  if(NOT output STREQUAL "${VERSION}\n")
    message(FATAL_ERROR "${program} printed \"${output}\" instead of ${VERSION}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(file include/brio/brio.h bin/brio share/brio/scenes share/brio/examples/hello.c)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()

file(WRITE ${root}/consumer/main.c
"#include <brio/brio.h>
#include <stdio.h>
int main(void) { return puts(brio_version()) < 0; }
")
file(WRITE ${root}/consumer/CMakeLists.txt
"cmake_minimum_required(VERSION 3.16)
project(consumer C)
find_package(brio ${VERSION} REQUIRED)
add_executable(shared main.c)
target_link_libraries(shared brio::brio)
add_executable(static main.c)
target_link_libraries(static brio::static)
")

# The examples, as their first lines say and from the installed files.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)
set(example_files ${prefix}/share/brio/examples)
set(first_scene ${example_files}/beam.yaml)
set(hello_scene ${example_files}/beam.yaml)
set(leapfrog_scene ${example_files}/leapfrog.yaml)
set(energy_control_scene ${example_files}/energy_control.yaml)
function(expect_example program example)
  run(${program} ${${example}_scene})
  if(NOT output MATCHES "${${example}_prints}")
    message(FATAL_ERROR "${program} printed \"${output}\" without \"${${example}_prints}\"")
  endif()
endfunction()
foreach(example ${examples})
  file(APPEND ${root}/consumer/CMakeLists.txt
    "add_executable(${example} ${example_files}/${example}.c)\ntarget_link_libraries(${example} brio::brio m pthread)\n")
endforeach()
run(${CMAKE_COMMAND} -S consumer -B cmake -G Ninja -DCMAKE_C_COMPILER=${CC} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build cmake)
expect_version(cmake/shared)
expect_version(cmake/static)
foreach(example ${examples})
  expect_example(cmake/${example} ${example})
endforeach()

# brio.pc names the prefix of the configuration, which is not the one of this installation.
file(GLOB_RECURSE pc ${prefix}/*/brio.pc)
cmake_path(GET pc PARENT_PATH pc_dir)
cmake_path(GET pc_dir PARENT_PATH libdir)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
set(query pkg-config --define-variable=includedir=${prefix}/include --define-variable=libdir=${libdir})
run(${query} --cflags --libs brio)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${CC} consumer/main.c -o shared ${flags} -Wl,-rpath,${libdir})
expect_version(./shared)
foreach(example ${examples})
  run(${CC} ${example_files}/${example}.c -o ${example} ${flags} -lm -lpthread -Wl,-rpath,${libdir})
  expect_example(./${example} ${example})
endforeach()
run(${query} --static --cflags --libs brio)
separate_arguments(flags UNIX_COMMAND "${output}")
list(TRANSFORM flags REPLACE "^-lbrio$" "-l:libbrio.a")
run(${CC} consumer/main.c -o static ${flags})
expect_version(./static)

# The installed Python package finds the installed library, whatever else there is.
set(site ${prefix}/${PYTHON_DIR})
if(NOT EXISTS ${site}/brio/__init__.py OR NOT EXISTS ${site}/brio/py.typed)
  message(FATAL_ERROR "the Python package was not installed")
endif()
if(PYTHON)
  unset(ENV{BRIO_LIBRARY})
  unset(ENV{BRIO_PROGRAM})
  file(WRITE ${root}/consumer/main.py "import brio
from brio._library import lib
brio.load('cloth').step()
print(lib.brio_place, brio.program(), lib.brio_scenes_folder().decode())
")
  run(${CMAKE_COMMAND} -E env PYTHONPATH=${site} ${PYTHON} consumer/main.py)
  string(REGEX MATCHALL "${prefix}" places "${output}")
  list(LENGTH places count)
  if(NOT count EQUAL 3)
    message(FATAL_ERROR "the installed Python package takes library, program or scenes from elsewhere: ${output}")
  endif()
else()
  message("SKIPPED: no Python with numpy was found; the installed package was not tried")
endif()

# And away again: nothing stays but what was there before, here one file of somebody else.
file(WRITE ${prefix}/share/brio/scenes/mine.yaml "brio: 1\n")
file(COPY_FILE ${BUILD}/install_manifest.txt ${root}/installed.txt)
cmake_path(GET CMAKE_CURRENT_LIST_FILE PARENT_PATH here)
run(sh ${here}/uninstall.sh ${root})
file(GLOB_RECURSE left ${prefix}/*)
if(NOT left STREQUAL "${prefix}/share/brio/scenes/mine.yaml")
  message(FATAL_ERROR "left behind by the uninstallation: ${left}")
endif()
