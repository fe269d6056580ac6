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
foreach(file include/brio/brio.h bin/brio share/brio/scenes)
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
run(${CMAKE_COMMAND} -S consumer -B cmake -G Ninja -DCMAKE_C_COMPILER=${CC} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build cmake)
expect_version(cmake/shared)
expect_version(cmake/static)

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
run(${query} --static --cflags --libs brio)
separate_arguments(flags UNIX_COMMAND "${output}")
list(TRANSFORM flags REPLACE "^-lbrio$" "-l:libbrio.a")
run(${CC} consumer/main.c -o static ${flags})
expect_version(./static)
