# Every tests/test_NAME.c is a cmocka program and a CTest entry NAME. Those named test_long_* carry the label
# "long" and run with `make test-long` only. A program that cannot run what it tests prints
# "SKIPPED: reason" (and may return 77); the closing summary counts these.

find_path(BRIO_CMOCKA_INCLUDE cmocka.h)
find_library(BRIO_CMOCKA_LIBRARY cmocka)
mark_as_advanced(BRIO_CMOCKA_INCLUDE BRIO_CMOCKA_LIBRARY)
if(NOT BRIO_CMOCKA_INCLUDE OR NOT BRIO_CMOCKA_LIBRARY)
  missing("cmocka for its tests" "libcmocka-dev" BRIO_TESTS)
endif()

# A locale with a decimal comma, which must not disturb readers and writers (Debian package: locales).
set(locales ${PROJECT_BINARY_DIR}/locales)
if(NOT EXISTS ${locales}/de_DE.UTF-8)
  file(MAKE_DIRECTORY ${locales})
  execute_process(COMMAND localedef -i de_DE -f UTF-8 ${locales}/de_DE.UTF-8 RESULT_VARIABLE ignored OUTPUT_QUIET
    ERROR_QUIET)
endif()

# Not detect_stack_use_after_return: gcc 12 then misaligns 64-byte vectors on the stack (GCC bug 110027).
set(test_environment
  "LOCPATH=${locales}"
  "BRIO_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
  "BRIO_PROGRAM=$<TARGET_FILE:brio_cli>"
  "UBSAN_OPTIONS=print_stacktrace=1"
  "TSAN_OPTIONS=ignore_noninstrumented_modules=1:die_after_fork=0")
# MPI and what it loads leak at the end of a process. Whose leak it is shows only with all frames.
if(BRIO_MPI)
  list(APPEND test_environment "ASAN_OPTIONS=fast_unwind_on_malloc=0"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/mpi_leaks.txt:print_suppressions=0")
endif()

# Counters of lines are written when a process ends: tests that limit what it may do leave that out then.
if(BRIO_COVERAGE)
  set(counted BRIO_COUNTED=1)
endif()

# The compilers that tests call. Those of a cross compilation need to be told where the libraries are.
set(test_cc ${CMAKE_C_COMPILER})
set(test_cxx g++ clang++)
if(CMAKE_SYSROOT)
  set(test_cc ${PROJECT_BINARY_DIR}/tests/cc)
  set(test_cxx ${PROJECT_BINARY_DIR}/tests/c++)
  string(REGEX REPLACE "gcc$" "g++" cxx ${CMAKE_C_COMPILER})
  file(CONFIGURE OUTPUT ${test_cc} CONTENT "#!/bin/sh\nexec ${CMAKE_C_COMPILER} --sysroot=${CMAKE_SYSROOT} \"$@\"\n" @ONLY)
  file(CONFIGURE OUTPUT ${test_cxx} CONTENT "#!/bin/sh\nexec ${cxx} --sysroot=${CMAKE_SYSROOT} \"$@\"\n" @ONLY)
  file(CHMOD ${test_cc} ${test_cxx} FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()

# A build for several processes tests those: all else is the same without them.
if(BRIO_MPI)
  file(GLOB tests CONFIGURE_DEPENDS tests/cluster/test_*.c)
else()
  file(GLOB tests CONFIGURE_DEPENDS tests/test_*.c)
endif()
add_library(brio_only OBJECT tests/only.c) # BRIO_TEST=pattern chooses cases
target_include_directories(brio_only SYSTEM PRIVATE ${BRIO_CMOCKA_INCLUDE})
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(emulated BRIO_EMULATED=1) # tests/emulated.h
endif()
foreach(file ${tests})
  cmake_path(GET file STEM program)
  string(REGEX REPLACE "^test_" "" name ${program})
  add_executable(${program} ${file} $<TARGET_OBJECTS:brio_only>)
  target_include_directories(${program} SYSTEM PRIVATE ${BRIO_CMOCKA_INCLUDE})
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${program} PRIVATE brio_plain brio_static ${BRIO_CMOCKA_LIBRARY})
  target_compile_definitions(${program} PRIVATE BRIO_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    BRIO_PROGRAM="$<TARGET_FILE:brio_cli>" ${emulated} ${counted})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_dependencies(${program} brio_cli)
  add_test(NAME ${name} COMMAND ${program} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(BRIO_MPI)
    set_tests_properties(${name} PROPERTIES LABELS cluster TIMEOUT 3600)
  elseif(name MATCHES "^long_")
    set_tests_properties(${name} PROPERTIES LABELS long TIMEOUT 3600)
  else()
    set_tests_properties(${name} PROPERTIES LABELS quick TIMEOUT 600)
  endif()
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT "${test_environment}")
endforeach()

if(BRIO_MPI)
  return()
endif()

# The examples of the documentation: programs that see the public header only, and energies that test_examples checks.
include(cmake/examples.cmake)
set(first_scene examples/beam.yaml)
set(hello_scene examples/beam.yaml)
set(leapfrog_scene examples/leapfrog.yaml)
set(energy_control_scene examples/energy_control.yaml)
set(drag_scene scenes/cloth.yaml)
foreach(example ${examples})
  add_executable(example_${example} examples/${example}.c)
  target_link_libraries(example_${example} PRIVATE brio_shared m)
  target_compile_options(example_${example} PRIVATE -Wall -Wextra)
  if(BRIO_SANITIZE)
    target_link_options(example_${example} PRIVATE -fsanitize=${BRIO_SANITIZE})
  endif()
  set_target_properties(example_${example} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME example_${example} COMMAND example_${example} ${${example}_scene} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(example_${example} PROPERTIES LABELS quick TIMEOUT 300 PASS_REGULAR_EXPRESSION "${${example}_prints}")
endforeach()
target_sources(test_examples PRIVATE examples/yeoh.c examples/duffing.c)
target_include_directories(test_examples PRIVATE src/energy)
set_source_files_properties(examples/yeoh.c examples/duffing.c PROPERTIES COMPILE_DEFINITIONS BRIO_KERNEL_ISA=example)

# Commands within another program, as the Python package calls them.
target_sources(test_locale PRIVATE $<TARGET_OBJECTS:brio_commands> $<TARGET_OBJECTS:brio_one_lane>)

# What `brio live` reads is tested without the program around it.
set(live_readers cli/live/hub.c cli/live/order.c cli/live/request.c cli/live/sha1.c cli/live/websocket.c)
target_sources(test_websocket PRIVATE ${live_readers})
target_include_directories(test_websocket PRIVATE cli)

# The fuzzers' targets over their kept inputs: every tests/corpus/NAME is a CTest entry corpus_NAME.
file(GLOB corpora CONFIGURE_DEPENDS tests/corpus/*)
foreach(corpus ${corpora})
  cmake_path(GET corpus FILENAME name)
  add_executable(corpus_${name} tests/fuzz_${name}.c tests/corpus.c)
  target_link_libraries(corpus_${name} PRIVATE brio_plain brio_static)
  target_include_directories(corpus_${name} PRIVATE tests)
  set_source_files_properties(tests/fuzz_${name}.c PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
  set_target_properties(corpus_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME corpus_${name} COMMAND corpus_${name} ${corpus})
  set_tests_properties(corpus_${name} PROPERTIES LABELS quick TIMEOUT 300 ENVIRONMENT "${test_environment}")
endforeach()
target_sources(corpus_live PRIVATE ${live_readers})
target_include_directories(corpus_live PRIVATE cli)

# Loaded before the program by test_out_of_memory.
add_library(failing_malloc MODULE tests/failing_malloc.c)
target_link_libraries(failing_malloc PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(failing_malloc PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests PREFIX ""
  C_VISIBILITY_PRESET default INTERPROCEDURAL_OPTIMIZATION OFF)
target_compile_definitions(test_out_of_memory PRIVATE BRIO_FAILING_MALLOC="$<TARGET_FILE:failing_malloc>")
add_dependencies(test_out_of_memory failing_malloc)

# Loaded by the program in test_plugin and by tests/python: the example, one of another binary interface, and no plug-in at all.
add_library(example_plugin MODULE examples/plugin.c)
target_include_directories(example_plugin PRIVATE ${PROJECT_SOURCE_DIR}/include)
add_library(old_plugin MODULE tests/plugin_old.c)
target_include_directories(old_plugin PRIVATE ${PROJECT_SOURCE_DIR}/include)
set_target_properties(example_plugin old_plugin PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests PREFIX "")
target_compile_options(example_plugin PRIVATE -Wall -Wextra)
target_compile_definitions(test_plugin PRIVATE BRIO_TEST_PLUGIN="$<TARGET_FILE:example_plugin>"
  BRIO_TEST_OLD_PLUGIN="$<TARGET_FILE:old_plugin>" BRIO_TEST_NO_PLUGIN="$<TARGET_FILE:failing_malloc>")
add_dependencies(test_plugin example_plugin old_plugin failing_malloc)
target_sources(test_sandbox PRIVATE cli/sandbox.c)
target_include_directories(test_sandbox PRIVATE cli)

# SUNDIALS' CVODE, the reference of test_orders and test_constraints, which say what is skipped where it is not found.
find_path(BRIO_SUNDIALS_INCLUDE cvode/cvode.h)
set(sundials "")
foreach(part cvode nvecserial sunnonlinsolfixedpoint)
  find_library(BRIO_SUNDIALS_${part} sundials_${part})
  mark_as_advanced(BRIO_SUNDIALS_${part})
  list(APPEND sundials ${BRIO_SUNDIALS_${part}})
endforeach()
mark_as_advanced(BRIO_SUNDIALS_INCLUDE)
if(BRIO_SUNDIALS_INCLUDE AND NOT "${sundials}" MATCHES "NOTFOUND")
  foreach(name test_orders test_constraints)
    target_compile_definitions(${name} PRIVATE BRIO_SUNDIALS)
    target_include_directories(${name} SYSTEM PRIVATE ${BRIO_SUNDIALS_INCLUDE})
    target_link_libraries(${name} PRIVATE ${sundials})
  endforeach()
endif()

# The mathematics of lanes, as the kernels of the other instruction sets are compiled; 77 where the machine lacks one.
if(TARGET brio_kernels_avx2)
  foreach(isa avx2 avx512)
    set(program test_kernels_${isa})
    add_executable(${program} tests/test_kernels.c)
    target_include_directories(${program} SYSTEM PRIVATE ${BRIO_CMOCKA_INCLUDE})
    target_link_libraries(${program} PRIVATE brio_flags brio_static ${BRIO_CMOCKA_LIBRARY})
    target_compile_options(${program} PRIVATE $<TARGET_PROPERTY:brio_kernels_${isa},COMPILE_OPTIONS>)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME kernels_${isa} COMMAND ${program})
    set_tests_properties(kernels_${isa} PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77)
  endforeach()
endif()

# The form of the sources: who may include whom, lengths, opening comments; what a new plug-in touches; clang-format.
find_program(BRIO_PYTHON3 NAMES python3)
mark_as_advanced(BRIO_PYTHON3)
if(BRIO_PYTHON3)
  add_test(NAME layers COMMAND ${BRIO_PYTHON3} -B ${PROJECT_SOURCE_DIR}/tests/layers.py)
  add_test(NAME touches COMMAND ${BRIO_PYTHON3} -B ${PROJECT_SOURCE_DIR}/tests/touches.py ${PROJECT_BINARY_DIR})
  add_test(NAME reproduction_page COMMAND ${BRIO_PYTHON3} -B ${PROJECT_SOURCE_DIR}/docs/merge_reproduction.py --check)
  add_test(NAME named COMMAND ${BRIO_PYTHON3} -B ${PROJECT_SOURCE_DIR}/tests/named.py)
else()
  foreach(name layers touches reproduction_page named)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: there is no python3; apt-get install python3")
  endforeach()
endif()
set_tests_properties(layers named reproduction_page PROPERTIES LABELS quick TIMEOUT 60)
set_tests_properties(touches PROPERTIES LABELS quick TIMEOUT 300)

# A disk that fails, power cuts, and a few cases of the campaign (`make campaign` runs more of it). Their faults would
# damage counters of lines.
if(BRIO_PYTHON3 AND NOT BRIO_SANITIZE AND NOT BRIO_COVERAGE)
  add_test(NAME crash COMMAND ${BRIO_PYTHON3} -B ${PROJECT_SOURCE_DIR}/tests/crash.py $<TARGET_FILE:brio_cli> 29)
  add_test(NAME campaign COMMAND ${BRIO_PYTHON3} -B ${PROJECT_SOURCE_DIR}/tests/campaign.py $<TARGET_FILE:brio_cli> --cases 24
    --shim $<TARGET_FILE:failing_malloc> --keep ${PROJECT_SOURCE_DIR}/tests/campaign --replay)
  set_tests_properties(crash campaign PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()

# What brio is made of, with a licence each.
if(BRIO_PYTHON3 AND NOT BRIO_SANITIZE AND NOT BRIO_COVERAGE AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME sbom COMMAND ${BRIO_PYTHON3} -B ${PROJECT_SOURCE_DIR}/cmake/sbom.py ${PROJECT_SOURCE_DIR} $<TARGET_FILE:brio_cli>
    ${PROJECT_BINARY_DIR}/brio.spdx.json --check)
  set_tests_properties(sbom PROPERTIES LABELS quick TIMEOUT 60)
endif()

# What integrators leave to be linked is public (link-time optimisation, if switched on, hides the symbols).
find_program(BRIO_NM nm)
mark_as_advanced(BRIO_NM)
if(BRIO_PYTHON3 AND BRIO_NM AND NOT BRIO_SANITIZE AND NOT BRIO_COVERAGE)
  add_test(NAME integrator_symbols COMMAND ${BRIO_PYTHON3} -B ${PROJECT_SOURCE_DIR}/tests/layers.py --objects ${PROJECT_BINARY_DIR})
  set_tests_properties(integrator_symbols PROPERTIES LABELS quick TIMEOUT 60)
endif()
add_test(NAME words COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/words_test.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(words PROPERTIES LABELS quick TIMEOUT 300)
add_test(NAME format COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/format_test.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(format PROPERTIES LABELS quick TIMEOUT 300 SKIP_RETURN_CODE 77)

# The documentation site: links, formulas, search.
if(NOT BRIO_SANITIZE AND NOT BRIO_COVERAGE AND BRIO_PYTHON3)
  add_test(NAME docs COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/docs_test.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties(docs PROPERTIES LABELS quick TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()

# The playground in Chromium, from the file system; it says SKIPPED where the page could not be built or there is no browser.
if(NOT BRIO_SANITIZE AND NOT BRIO_COVERAGE AND PROJECT_BINARY_DIR STREQUAL "${PROJECT_SOURCE_DIR}/build")
  find_program(BRIO_NODE node)
  mark_as_advanced(BRIO_NODE)
  if(BRIO_NODE)
    add_test(NAME playground COMMAND ${BRIO_NODE} ${PROJECT_SOURCE_DIR}/web/playground/test.mjs ${PROJECT_BINARY_DIR} -under_every)
    add_test(NAME playground_scenes COMMAND ${BRIO_NODE} ${PROJECT_SOURCE_DIR}/web/playground/test.mjs ${PROJECT_BINARY_DIR} under_every)
    set_tests_properties(playground_scenes PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77)
  else()
    add_test(NAME playground COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: there is no Node.js; apt-get install nodejs npm emscripten chromium")
  endif()
  set_tests_properties(playground PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()

# The package brio-engine in Node.js and Chromium, installed into an empty folder.
if(NOT BRIO_SANITIZE AND NOT BRIO_COVERAGE AND PROJECT_BINARY_DIR STREQUAL "${PROJECT_SOURCE_DIR}/build")
  if(BRIO_NODE)
    add_test(NAME npm COMMAND ${BRIO_NODE} ${PROJECT_SOURCE_DIR}/integrations/npm/test.mjs ${PROJECT_BINARY_DIR})
  else()
    add_test(NAME npm COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: there is no Node.js; apt-get install nodejs npm emscripten chromium")
  endif()
  set_tests_properties(npm PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()

# The installed package: programs that find it by pkg-config and by CMake, shared and static.
if(NOT BRIO_SANITIZE AND NOT BRIO_COVERAGE)
  add_test(NAME package COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DCC=${test_cc}
    -DVERSION=${PROJECT_VERSION} -DPYTHON=${brio_python} -DPYTHON_DIR=${BRIO_PYTHON_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/package_test.cmake)
  set_tests_properties(package PROPERTIES LABELS quick TIMEOUT 300)
  add_test(NAME header COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/header_test.sh ${PROJECT_SOURCE_DIR} $<TARGET_FILE:brio_shared> ${test_cc})
  set_tests_properties(header PROPERTIES LABELS quick TIMEOUT 300)
  add_test(NAME cpp COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/cpp_test.sh ${PROJECT_SOURCE_DIR} $<TARGET_FILE:brio_shared> ${test_cxx})
  set_tests_properties(cpp PROPERTIES LABELS quick TIMEOUT 300 SKIP_RETURN_CODE 77)
  add_test(NAME completion COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/completion_test.sh $<TARGET_FILE:brio_cli>)
  set_tests_properties(completion PROPERTIES LABELS quick TIMEOUT 300)
endif()

# Python: every tests/python/test_NAME.py is a CTest entry python_NAME, under the first Python that has numpy. (A sanitizer would have to be in the
# interpreter.)
if(NOT BRIO_SANITIZE AND NOT BRIO_COVERAGE)
  add_executable(python_steps tests/python/steps.c)
  target_link_libraries(python_steps PRIVATE brio_shared)
  set_target_properties(python_steps PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  file(GLOB python_tests CONFIGURE_DEPENDS tests/python/test_*.py)
  foreach(file ${python_tests})
    cmake_path(GET file STEM module)
    string(REPLACE test_ python_ name ${module})
    if(brio_python)
      add_test(NAME ${name} COMMAND ${brio_python} -B ${PROJECT_SOURCE_DIR}/tests/python/run.py ${module})
    else()
      add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no Python with numpy was found; apt-get install python3-numpy, then configure again")
    endif()
    set_tests_properties(${name} PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77
      ENVIRONMENT "${test_environment};BRIO_LIBRARY=$<TARGET_FILE:brio_python>;BRIO_STEPS=$<TARGET_FILE:python_steps>;BRIO_TEST_PLUGIN=$<TARGET_FILE:example_plugin>;CC=${test_cc}")
  endforeach()
endif()

# Pictures are read back through zlib, whether brio has it or not.
find_library(BRIO_ZLIB_LIBRARY z)
if(BRIO_ZLIB_LIBRARY)
  target_link_libraries(test_render PRIVATE ${BRIO_ZLIB_LIBRARY})
  target_link_libraries(test_texture PRIVATE ${BRIO_ZLIB_LIBRARY})
endif()

# Partitions are part of the build for several processes only; how a system is split needs none.
if(TARGET test_split)
  target_sources(test_split PRIVATE src/cluster/split.c src/cluster/message.c)
endif()

# The browser test of reports finds playwright-core beside the bundled script.
foreach(name test_report test_live_page)
  target_compile_definitions(${name} PRIVATE BRIO_REPORT_MODULES="${PROJECT_BINARY_DIR}/web/report")
endforeach()

# The longest first (seconds), so that none of them runs alone at the end.
foreach(pair playground=90 playground_scenes=60 npm=30 manual=60 scene=50 scalar=20)
  string(REGEX MATCH "(.*)=(.*)" pair ${pair})
  if(TEST ${CMAKE_MATCH_1})
    set_tests_properties(${CMAKE_MATCH_1} PROPERTIES COST ${CMAKE_MATCH_2})
  endif()
endforeach()

# Time limits are those of an idle machine, with room. BRIO_TEST_TIME multiplies them: for slow or busy machines, and
# for an emulator, which takes ten to thirty times as long.
set(BRIO_TEST_TIME "" CACHE STRING "Factor of the time limits of tests; default: 1, under an emulator 30")
set(factor ${BRIO_TEST_TIME})
if(CMAKE_CROSSCOMPILING_EMULATOR)
  if("${factor}" STREQUAL "")
    set(factor 30)
  endif()
endif()
if(factor)
  get_property(all DIRECTORY PROPERTY TESTS)
  foreach(name ${all})
    get_property(limit TEST ${name} PROPERTY TIMEOUT)
    math(EXPR limit "${limit} * ${factor}")
    set_tests_properties(${name} PROPERTIES TIMEOUT ${limit})
  endforeach()
endif()
