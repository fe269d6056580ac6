# `make package`: a Debian package of everything that `make install` installs, under /usr. Its dependencies are read from the program and the library.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME brio)
set(CPACK_PACKAGE_CONTACT "the authors of brio <brio@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulation of deformable bodies: program, C library, Python package")
set(CPACK_PACKAGE_DESCRIPTION "Bodies that bend, stretch, twist, swing and collide, from scenes that are text files. With a choice of
time integrators that keep, control or damp energy, reports and pictures of every run, a C library
and a Python package.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-numpy, ffmpeg, pkg-config")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcholmod3, libopenblas0-pthread | libblis4-pthread")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/prerm)
include(CPack)
