# Benchmarks of market data and environment; figures stand in docs/market.md.
add_executable(market_bench bench/market_bench.cpp)
target_link_libraries(market_bench PRIVATE foxhunt_market)
add_executable(market_collector_bench bench/market_collector_bench.cpp)
target_link_libraries(market_collector_bench PRIVATE foxhunt_environment)
add_executable(device_evaluation_bench bench/device_evaluation_bench.cpp)
target_link_libraries(device_evaluation_bench PRIVATE foxhunt_session)
