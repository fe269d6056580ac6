# The script of report.html: web/report with three.js and uPlot in one file, built by npm and put into the program. Where there is no
# npm, or it cannot fetch them, the file is empty and reports show pictures instead of the moving scene. The page of `brio live`,
# web/live, is bundled from the same packages.

option(BRIO_REPORT "Build the interactive part of report.html (needs npm)" ON)
set(report_script ${PROJECT_BINARY_DIR}/web/report/report.z)
set(report_sources package.json package-lock.json build.mjs report.js report.css)
list(TRANSFORM report_sources PREPEND ${PROJECT_SOURCE_DIR}/web/report/)
find_program(BRIO_NPM npm)
find_program(BRIO_NODE NAMES node nodejs)
mark_as_advanced(BRIO_NPM BRIO_NODE)

# What failed is tried again whenever CMake runs.
if(EXISTS ${report_script})
  file(SIZE ${report_script} report_size)
  if(report_size EQUAL 0)
    file(REMOVE ${report_script})
  endif()
endif()

if(BRIO_REPORT AND BRIO_NPM AND BRIO_NODE)
  add_custom_command(OUTPUT ${report_script}
    COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/report.sh ${PROJECT_SOURCE_DIR}/web/report ${report_script} ${BRIO_NPM} ${BRIO_NODE}
      $<IF:$<BOOL:${BRIO_TESTS}>,test,build>
    DEPENDS ${report_sources} ${PROJECT_SOURCE_DIR}/cmake/report.sh
    COMMENT "Bundling the script of report.html" VERBATIM)
else()
  if(BRIO_REPORT)
    message(STATUS "No npm: reports will show pictures instead of the moving scene (Debian: apt-get install npm)")
  endif()
  set(report_script ${PROJECT_BINARY_DIR}/web/report/none.z)
  add_custom_command(OUTPUT ${report_script} COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/web/report
    COMMAND ${CMAKE_COMMAND} -E touch ${report_script} VERBATIM)
endif()
set_source_files_properties(cli/report_script.c PROPERTIES OBJECT_DEPENDS ${report_script}
  COMPILE_DEFINITIONS "BRIO_REPORT_SCRIPT=\"${report_script}\"")

set(live_page ${PROJECT_BINARY_DIR}/web/live/live.z)
file(GLOB live_sources CONFIGURE_DEPENDS web/live/*.js web/live/*.css web/live/*.html)
add_custom_command(OUTPUT ${live_page}
  COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/live.sh ${PROJECT_SOURCE_DIR}/web/live ${live_page} "${BRIO_NODE}" ${report_script}
  DEPENDS ${report_script} ${live_sources} ${PROJECT_SOURCE_DIR}/web/live/build.mjs ${PROJECT_SOURCE_DIR}/cmake/live.sh
    ${PROJECT_SOURCE_DIR}/web/playground/src/charts.js ${PROJECT_SOURCE_DIR}/web/playground/src/controls.js
    ${PROJECT_SOURCE_DIR}/web/playground/src/colours.js ${PROJECT_SOURCE_DIR}/web/playground/src/view3d.js
    ${PROJECT_SOURCE_DIR}/web/playground/style.css
  COMMENT "Bundling the page of brio live" VERBATIM)
set_source_files_properties(cli/live/page.c PROPERTIES OBJECT_DEPENDS ${live_page}
  COMPILE_DEFINITIONS "BRIO_LIVE_PAGE=\"${live_page}\"")
