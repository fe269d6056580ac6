# Cross compilation for 64-bit Arm: Debian's cross compiler, the libraries of a sysroot, qemu to run programs.
# cmake/aarch64.sh makes the sysroot (`make aarch64`); -DBRIO_SYSROOT=FOLDER names another one.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

if(NOT BRIO_SYSROOT)
  cmake_path(SET BRIO_SYSROOT NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../build-aarch64/sysroot)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BRIO_SYSROOT)
set(CMAKE_SYSROOT ${BRIO_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${CMAKE_SYSROOT})
if(NOT BRIO_PYTHON)
  set(BRIO_PYTHON ${CMAKE_SYSROOT}/usr/bin/python3)
endif()
