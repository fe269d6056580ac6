# Every tests/fuzz_NAME.c is a libFuzzer program; `make fuzz` runs each for FUZZ_SECONDS.

if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "The fuzzers need clang: cmake --preset fuzz (on Debian: apt-get install clang libclang-rt-dev).")
endif()

file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz_*.c)
add_custom_target(fuzzers)
foreach(file ${fuzzers})
  cmake_path(GET file STEM program)
  add_executable(${program} ${file})
  target_link_libraries(${program} PRIVATE brio_plain brio_static)
  target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes) # LLVMFuzzerTestOneInput
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  add_dependencies(fuzzers ${program})
endforeach()
