# The first Python 3 that has numpy: BRIO_PYTHON if given, Debian's, then that of the PATH. Sets brio_python, "" if there is none, and where
# the package is installed. Nothing of brio needs it to be built. A Python of this machine cannot load what is compiled for another.
set(brio_python "")
set(candidates ${BRIO_PYTHON})
if(NOT CMAKE_CROSSCOMPILING)
  list(APPEND candidates /usr/bin/python3 python3)
endif()
foreach(candidate ${candidates})
  if(NOT brio_python)
    execute_process(COMMAND ${candidate} -c "import numpy, sys; print('%d.%d' % sys.version_info[:2])" RESULT_VARIABLE lacks
      OUTPUT_VARIABLE brio_python_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(lacks STREQUAL "0")
      set(brio_python ${candidate})
    endif()
  endif()
endforeach()
if(NOT brio_python) # numpy may come later: the version is that of the python3 that is there
  execute_process(COMMAND python3 -c "import sys; print('%d.%d' % sys.version_info[:2])" RESULT_VARIABLE lacks OUTPUT_VARIABLE brio_python_version
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
# Debian's python3 looks there under /usr/local, and without the second number under /usr. Elsewhere: PYTHONPATH (docs/python.md).
if(NOT BRIO_PYTHON_DIR)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" OR NOT lacks STREQUAL "0")
    set(brio_python_version 3)
  endif()
  set(BRIO_PYTHON_DIR lib/python${brio_python_version}/dist-packages)
endif()
