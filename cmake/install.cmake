# Library, header, program, scenes, documentation; brio.pc and the CMake package.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/brio)
configure_file(cmake/brio.pc.in brio.pc @ONLY)
configure_package_config_file(cmake/brioConfig.cmake.in brioConfig.cmake INSTALL_DESTINATION ${package_dir})
# 0.x: a new minor number may change the interface.
write_basic_package_version_file(brioConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS brio_shared brio_static EXPORT brioTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET brio_python) # with the commands inside, for the Python package
  install(TARGETS brio_python LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
endif()
install(TARGETS brio_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT brioTargets NAMESPACE brio:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/brioConfig.cmake ${PROJECT_BINARY_DIR}/brioConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/brio.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY include/brio DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/brio)
install(FILES ${PROJECT_BINARY_DIR}/playground.html ${PROJECT_BINARY_DIR}/playground-threads.js ${PROJECT_BINARY_DIR}/playground-threads.worker.js
  ${PROJECT_BINARY_DIR}/playground-threads.wasm DESTINATION ${CMAKE_INSTALL_DATADIR}/brio OPTIONAL)
file(GLOB examples examples/*.c examples/*.yaml)
install(FILES ${examples} DESTINATION ${CMAKE_INSTALL_DATADIR}/brio/examples)
install(DIRECTORY python/brio DESTINATION ${BRIO_PYTHON_DIR} FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN __pycache__ EXCLUDE)
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  install(FILES ${PROJECT_BINARY_DIR}/brio.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/brio.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME brio)
  install(FILES ${PROJECT_BINARY_DIR}/_brio DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${PROJECT_BINARY_DIR}/brio.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg")
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
