# What the device tests need besides their sources: libraries that are no proper plugin, and the device benchmark.
foreach(kind no old failing)
  add_library(fake_${kind}_plugin MODULE device/plugins/fake_plugin.cpp)
  target_link_libraries(fake_${kind}_plugin PRIVATE foxhunt_options)
  set_target_properties(fake_${kind}_plugin PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/plugins)
  add_dependencies(test_device fake_${kind}_plugin)
  string(TOUPPER ${kind} upper)
  target_compile_definitions(test_device PRIVATE FH_${upper}_PLUGIN="$<TARGET_FILE:fake_${kind}_plugin>")
endforeach()
target_compile_definitions(fake_no_plugin PRIVATE FH_FAKE_ENTRY=something_else FH_FAKE_VERSION=1)
target_compile_definitions(fake_old_plugin PRIVATE FH_FAKE_ENTRY=foxhunt_device_plugin FH_FAKE_VERSION=999)
target_compile_definitions(fake_failing_plugin PRIVATE FH_FAKE_ENTRY=foxhunt_device_plugin
  FH_FAKE_VERSION=foxhunt::device::kInterfaceVersion)

add_executable(device_bench bench/device_bench.cpp)
target_link_libraries(device_bench PRIVATE foxhunt_device)
