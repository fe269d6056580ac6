# Every tests/fuzz_NAME.c is a libFuzzer program, of fuzz_mesh.c one for each format; `make fuzz` runs each for FUZZ_SECONDS.

if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "The fuzzers need clang: cmake --preset fuzz (on Debian: apt-get install clang libclang-rt-dev).")
endif()

file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz_*.c)
add_custom_target(fuzzers)
function(add_fuzzer program file)
  add_executable(${program} ${file})
  target_link_libraries(${program} PRIVATE brio_plain brio_static)
  target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes) # LLVMFuzzerTestOneInput
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  add_dependencies(fuzzers ${program})
endfunction()

foreach(file ${fuzzers})
  cmake_path(GET file STEM program)
  if(program STREQUAL "fuzz_mesh")
    foreach(format msh mesh node obj off pt seg ply stl vtk vtu js)
      add_fuzzer(${program}_${format} ${file})
      target_compile_definitions(${program}_${format} PRIVATE BRIO_FUZZ_READER=".${format}")
    endforeach()
  else()
    add_fuzzer(${program} ${file})
  endif()
endforeach()

target_sources(fuzz_live PRIVATE cli/live/order.c cli/live/request.c cli/live/sha1.c cli/live/websocket.c)
target_include_directories(fuzz_live PRIVATE cli)
