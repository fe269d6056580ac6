# The engine for browsers: build/wasm/engine.mjs and engine.wasm, which web/playground/build.mjs puts into one page. Lanes become wasm's
# vectors of two doubles; there are no fused multiply-adds, so its bits are those of BRIO_ISA=baseline.
target_compile_options(brio_flags INTERFACE -msimd128 $<$<CONFIG:Release>:-O3>)
add_executable(brio_engine web/playground/engine.c cli/reference.c ${objects})
set_target_properties(brio_engine PROPERTIES OUTPUT_NAME engine SUFFIX .mjs)
target_include_directories(brio_engine PRIVATE ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(brio_engine PRIVATE brio_plain)
set_source_files_properties(web/playground/engine.c PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes) # called from JavaScript only
target_link_options(brio_engine PRIVATE -O3 --no-entry -sMODULARIZE=1 -sEXPORT_ES6=1 -sUSE_ES6_IMPORT_META=0 -sENVIRONMENT=web,worker
  -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=32MB -sMAXIMUM_MEMORY=2GB -sSTRICT=1 -sFORCE_FILESYSTEM=1
  -sEXPORTED_RUNTIME_METHODS=UTF8ToString,stringToUTF8,lengthBytesUTF8,FS -sEXPORTED_FUNCTIONS=_malloc,_free)
# Debian keeps the modules of emscripten's optimiser there.
set_property(TARGET brio_engine PROPERTY RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")
