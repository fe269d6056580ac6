# The engine for JavaScript, twice, from the same objects: build/wasm/engine.mjs and engine.wasm, and with threads
# engine-threads.js, .worker.js and .wasm. integrations/npm/build.mjs makes the package of both. Lanes become wasm's
# vectors of two doubles; there are no fused multiply-adds, so its bits are those of BRIO_ISA=baseline.
target_compile_options(brio_flags INTERFACE -msimd128 -matomics -mbulk-memory $<$<CONFIG:Release>:-O3>)
set(binding integrations/npm/engine.c integrations/npm/take_part.c)
# Called from JavaScript only.
set_source_files_properties(${binding} integrations/npm/threads.c PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
function(add_engine target output suffix)
  add_executable(${target} ${binding} cli/reference.c ${objects} ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} SUFFIX ${suffix})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cli)
  target_link_libraries(${target} PRIVATE brio_plain)
  # A scene that is too large is refused (malloc returns NULL); nothing ends the program that the engine is a guest of.
  target_link_options(${target} PRIVATE -O3 --no-entry -sMODULARIZE=1
    -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=32MB -sMAXIMUM_MEMORY=2GB -sABORTING_MALLOC=0 -sSTRICT=1 -sFORCE_FILESYSTEM=1
    -sEXPORTED_RUNTIME_METHODS=UTF8ToString,stringToUTF8,lengthBytesUTF8,FS,wasmMemory$<$<STREQUAL:${output},engine-threads>:,PThread>
    -sEXPORTED_FUNCTIONS=_malloc,_free)
  # Debian keeps the modules of emscripten's optimiser there.
  set_property(TARGET ${target} PROPERTY RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")
endfunction()

add_engine(brio_engine engine .mjs)
target_link_options(brio_engine PRIVATE -sEXPORT_ES6=1 -sUSE_ES6_IMPORT_META=0 -sENVIRONMENT=web,worker)

# A browser starts threads only between calls, so they are all there before the first one. Memory grows when a scene is made and not in a step;
# emscripten warns that JavaScript is slower where it may grow.
add_engine(brio_engine_threads engine-threads .js integrations/npm/threads.c)
target_compile_options(brio_engine_threads PRIVATE -pthread)
target_link_options(brio_engine_threads PRIVATE -pthread -Wno-pthreads-mem-growth -sEXPORT_NAME=brioThreads -sENVIRONMENT=web,worker,node
  -sNODEJS_CATCH_EXIT=0 -sNODEJS_CATCH_REJECTION=0 "-sPTHREAD_POOL_SIZE=Module[\"threads\"]-1")
