// Every market file of the shared data against values decoded independently by the format's description.
#include <gtest/gtest.h>

#include "tests/market/reader_support.h"
#include "tests/support/shared_data.h"

namespace foxhunt::market::test {
namespace {

using foxhunt::test::shared;

struct Expected {
  const char* file;
  InputKind kind;
  const char* symbol;
  const char* timezone;
  std::uint64_t records;
  std::int64_t first, last;  // open_time of bars, ts_recv of others
  std::uint64_t checksum;    // as test::Checksum makes it
};

const Expected kExpected[] = {
    {"dbn/test_data.mbo.dbn", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbo.v1.dbn", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbo.v1.dbn.zst", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbo.v2.dbn.zst", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbo.v3.dbn", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbo.v3.dbn.zst", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbp-1.dbn", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbp-1.v1.dbn", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbp-1.v1.dbn.zst", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbp-1.v2.dbn.zst", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbp-1.v3.dbn.zst", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbp-10.dbn", InputKind::book, "", "", 2, 1609160400000704060, 1609160400000750544,
     0x266660AFAD822047ULL},
    {"dbn/test_data.mbp-10.dbn", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbp-10.v1.dbn", InputKind::book, "", "", 2, 1609160400000704060, 1609160400000750544,
     0x266660AFAD822047ULL},
    {"dbn/test_data.mbp-10.v1.dbn", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbp-10.v1.dbn.zst", InputKind::book, "", "", 2, 1609160400000704060, 1609160400000750544,
     0x266660AFAD822047ULL},
    {"dbn/test_data.mbp-10.v1.dbn.zst", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbp-10.v2.dbn.zst", InputKind::book, "", "", 2, 1609160400000704060, 1609160400000750544,
     0x266660AFAD822047ULL},
    {"dbn/test_data.mbp-10.v2.dbn.zst", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.mbp-10.v3.dbn.zst", InputKind::book, "", "", 2, 1609160400000704060, 1609160400000750544,
     0x266660AFAD822047ULL},
    {"dbn/test_data.mbp-10.v3.dbn.zst", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.ohlcv-1d.dbn", InputKind::bars, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.ohlcv-1d.v1.dbn", InputKind::bars, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.ohlcv-1d.v1.dbn.zst", InputKind::bars, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.ohlcv-1d.v2.dbn.zst", InputKind::bars, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.ohlcv-1d.v3.dbn.zst", InputKind::bars, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn/test_data.ohlcv-1h.dbn", InputKind::bars, "", "", 2, 1609160400000000000, 1609164000000000000,
     0xE9071D69BF7E93D0ULL},
    {"dbn/test_data.ohlcv-1h.v1.dbn", InputKind::bars, "", "", 2, 1609160400000000000, 1609164000000000000,
     0xE9071D69BF7E93D0ULL},
    {"dbn/test_data.ohlcv-1h.v1.dbn.zst", InputKind::bars, "", "", 2, 1609160400000000000, 1609164000000000000,
     0xE9071D69BF7E93D0ULL},
    {"dbn/test_data.ohlcv-1h.v2.dbn.zst", InputKind::bars, "", "", 2, 1609160400000000000, 1609164000000000000,
     0xE9071D69BF7E93D0ULL},
    {"dbn/test_data.ohlcv-1h.v3.dbn.zst", InputKind::bars, "", "", 2, 1609160400000000000, 1609164000000000000,
     0xE9071D69BF7E93D0ULL},
    {"dbn/test_data.ohlcv-1m.dbn", InputKind::bars, "", "", 2, 1609160400000000000, 1609160460000000000,
     0x2E3CD0F2A1AF3630ULL},
    {"dbn/test_data.ohlcv-1m.v1.dbn", InputKind::bars, "", "", 2, 1609160400000000000, 1609160460000000000,
     0x2E3CD0F2A1AF3630ULL},
    {"dbn/test_data.ohlcv-1m.v1.dbn.zst", InputKind::bars, "", "", 2, 1609160400000000000, 1609160460000000000,
     0x2E3CD0F2A1AF3630ULL},
    {"dbn/test_data.ohlcv-1m.v2.dbn.zst", InputKind::bars, "", "", 2, 1609160400000000000, 1609160460000000000,
     0x2E3CD0F2A1AF3630ULL},
    {"dbn/test_data.ohlcv-1m.v3.dbn.zst", InputKind::bars, "", "", 2, 1609160400000000000, 1609160460000000000,
     0x2E3CD0F2A1AF3630ULL},
    {"dbn/test_data.ohlcv-1s.dbn", InputKind::bars, "", "", 2, 1609160400000000000, 1609160401000000000,
     0x70DF3521BB1C7100ULL},
    {"dbn/test_data.ohlcv-1s.v1.dbn", InputKind::bars, "", "", 2, 1609160400000000000, 1609160401000000000,
     0x70DF3521BB1C7100ULL},
    {"dbn/test_data.ohlcv-1s.v1.dbn.zst", InputKind::bars, "", "", 2, 1609160400000000000, 1609160401000000000,
     0x70DF3521BB1C7100ULL},
    {"dbn/test_data.ohlcv-1s.v2.dbn.zst", InputKind::bars, "", "", 2, 1609160400000000000, 1609160401000000000,
     0x70DF3521BB1C7100ULL},
    {"dbn/test_data.ohlcv-1s.v3.dbn.zst", InputKind::bars, "", "", 2, 1609160400000000000, 1609160401000000000,
     0x70DF3521BB1C7100ULL},
    {"dbn/test_data.tbbo.dbn", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn/test_data.tbbo.v1.dbn", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn/test_data.tbbo.v1.dbn.zst", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn/test_data.tbbo.v2.dbn.zst", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn/test_data.tbbo.v3.dbn.zst", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn/test_data.trades.dbn", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn/test_data.trades.v1.dbn", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn/test_data.trades.v1.dbn.zst", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn/test_data.trades.v2.dbn.zst", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn/test_data.trades.v3.dbn.zst", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn_edge/clear_book_action_R_undef_price.mbp-10.v3.dbn", InputKind::book, "", "", 3, 1609160400000704060,
     1609160400000750544, 0x80C5BF71D692F965ULL},
    {"dbn_edge/clear_book_action_R_undef_price.mbp-10.v3.dbn", InputKind::trades, "", "", 0, 0, 0,
     0x0000000000000000ULL},
    {"dbn_edge/empty_levels_3_to_9_undef_price.mbp-10.v3.dbn", InputKind::book, "", "", 1, 1609160400000704060,
     1609160400000704060, 0xCC2B492196A4B274ULL},
    {"dbn_edge/empty_levels_3_to_9_undef_price.mbp-10.v3.dbn", InputKind::trades, "", "", 0, 0, 0,
     0x0000000000000000ULL},
    {"dbn_edge/mixed_schema_null_mbp10_trades_ohlcv.v3.dbn", InputKind::bars, "", "", 2, 1609160400000000000,
     1609160460000000000, 0x2E3CD0F2A1AF3630ULL},
    {"dbn_edge/mixed_schema_null_mbp10_trades_ohlcv.v3.dbn", InputKind::book, "", "", 2, 1609160400000704060,
     1609160400000750544, 0x266660AFAD822047ULL},
    {"dbn_edge/mixed_schema_null_mbp10_trades_ohlcv.v3.dbn", InputKind::trades, "", "", 2, 1609160400099150057,
     1609160400108142648, 0x2E12CC44CF75A5CDULL},
    {"dbn_edge/negative_prices_ohlcv-1m.v3.dbn", InputKind::bars, "", "", 4, 1587398400000000000, 1587398580000000000,
     0x34A83D7E6C4106C0ULL},
    {"dbn_edge/one_sided_book_no_asks.mbp-10.v3.dbn", InputKind::book, "", "", 1, 1609160400000704060,
     1609160400000704060, 0x480C1E49558D7F4DULL},
    {"dbn_edge/one_sided_book_no_asks.mbp-10.v3.dbn", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn_edge/ts_out.mbp-10.v3.dbn", InputKind::book, "", "", 2, 1609160400000704060, 1609160400000750544,
     0x266660AFAD822047ULL},
    {"dbn_edge/ts_out.mbp-10.v3.dbn", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn_edge/ts_out.trades.v3.dbn", InputKind::trades, "", "", 2, 1609160400099150057, 1609160400108142648,
     0x2E12CC44CF75A5CDULL},
    {"dbn_edge/zstd_leading_skippable_frame.mbp-10.v3.dbn.zst", InputKind::book, "", "", 2, 1609160400000704060,
     1609160400000750544, 0x266660AFAD822047ULL},
    {"dbn_edge/zstd_leading_skippable_frame.mbp-10.v3.dbn.zst", InputKind::trades, "", "", 0, 0, 0,
     0x0000000000000000ULL},
    {"dbn_edge/zstd_skippable_between_frames.mbp-10.v3.dbn.zst", InputKind::book, "", "", 2, 1609160400000704060,
     1609160400000750544, 0x266660AFAD822047ULL},
    {"dbn_edge/zstd_skippable_between_frames.mbp-10.v3.dbn.zst", InputKind::trades, "", "", 0, 0, 0,
     0x0000000000000000ULL},
    {"dbn_nautilus/esh4-glbx-mdp3-20231224.mbo.dbn.zst", InputKind::trades, "", "", 0, 0, 0, 0x0000000000000000ULL},
    {"dbn_nautilus/esh4-glbx-mdp3-20231225.mbo.dbn.zst", InputKind::trades, "", "", 2973, 1703545200105900877,
     1703548796799481333, 0x219BCD837B57B43AULL},
    {"dbn_nautilus/historical_bars_catalog__futures_mbp-1_2024-07-01T23-58_2024-07-02T00-02.dbn.zst", InputKind::trades,
     "", "", 120, 1719878281218485389, 1719878512813670786, 0x7E79A6DB17C233C7ULL},
    {"dbn_nautilus/historical_bars_catalog__futures_ohlcv-1m_2024-07-01T23-40_2024-07-02T00-10.dbn.zst",
     InputKind::bars, "ESU4", "", 30, 1719877200000000000, 1719878940000000000, 0xD5DC4B7671A19250ULL},
    {"dbn_nautilus/historical_bars_catalog__futures_ohlcv-1m_2024-07-01T23-40_2024-07-02T00-10.dbn.zst",
     InputKind::bars, "NQU4", "", 30, 1719877200000000000, 1719878940000000000, 0x1E1AC4C6D1687690ULL},
    {"dbn_nautilus/historical_bars_catalog__futures_trades_2024-07-01T23-58_2024-07-02T00-02.dbn.zst",
     InputKind::trades, "", "", 120, 1719878281218485389, 1719878512813670786, 0x7E79A6DB17C233C7ULL},
    {"dbn_nautilus/options_catalog__futures_ohlcv-1m_2024-05-09T09-55_2024-05-09T10-05.dbn.zst", InputKind::bars,
     "ESM4", "", 10, 1715248500000000000, 1715249040000000000, 0x75C0BC634414EE40ULL},
    {"dbn_nautilus/options_catalog__futures_ohlcv-1m_2024-05-09T09-55_2024-05-09T10-05.dbn.zst", InputKind::bars,
     "NQM4", "", 10, 1715248500000000000, 1715249040000000000, 0x24F3269D207A07B0ULL},
    {"dbn_nautilus/options_exercise__futures_ohlcv-1m_2026-01-09T20-55_2026-01-09T21-05.dbn.zst", InputKind::bars, "",
     "", 10, 1767992100000000000, 1767992640000000000, 0x17EA5BCBDE48FAB0ULL},
    {"dbn_nautilus/order_book_deltas_catalog__orderbooks_mbo_2024-05-08T00-00-00_2024-05-08T00-00-02.dbn.zst",
     InputKind::trades, "", "", 5, 1715126401489262273, 1715126401489962539, 0x27DAD9DA5516B2C8ULL},
    {"es_derived/esh4_20231225.mbp-10.v3.dbn.zst", InputKind::book, "", "", 43717, 1703541600181198464,
     1703548799446821072, 0x94956E8EACCB8B1EULL},
    {"es_derived/esh4_20231225.mbp-10.v3.dbn.zst", InputKind::trades, "", "", 2973, 1703545200105900877,
     1703548796799481333, 0x219BCD837B57B43AULL},
    {"es_derived/esh4_20231225.ohlcv-1m.v3.dbn.zst", InputKind::bars, "", "", 60, 1703545200000000000,
     1703548740000000000, 0x0E68B9CE6C5891E0ULL},
    {"es_derived/esh4_20231225.ohlcv-1s.v3.dbn.zst", InputKind::bars, "", "", 986, 1703545200000000000,
     1703548796000000000, 0x709DCD937C08FB20ULL},
    {"es_derived/esh4_20231225.trades.v3.dbn.zst", InputKind::trades, "", "", 2973, 1703545200105900877,
     1703548796799481333, 0x219BCD837B57B43AULL},
    {"dbn_malformed/action_invalid_Z.dbn", InputKind::book, "", "", 1, 1609160400000750544, 1609160400000750544,
     0xEE99ECBEE2023563ULL},
    {"dbn_malformed/side_invalid_Q.dbn", InputKind::book, "", "", 1, 1609160400000750544, 1609160400000750544,
     0xEE99ECBEE2023563ULL},
    {"dbn_malformed/interval_bad_date_20201345.dbn", InputKind::book, "", "", 2, 1609160400000704060,
     1609160400000750544, 0x266660AFAD822047ULL},
    {"dbn_malformed/record_len_255_past_eof.dbn", InputKind::book, "", "", 1, 1609160400000704060, 1609160400000704060,
     0xD690650D7A39C0CCULL},
    {"dbn_malformed/truncated_in_header.dbn", InputKind::book, "", "", 1, 1609160400000704060, 1609160400000704060,
     0xD690650D7A39C0CCULL},
    {"dbn_malformed/truncated_mid_record.dbn", InputKind::book, "", "", 1, 1609160400000704060, 1609160400000704060,
     0xD690650D7A39C0CCULL},
    {"dbn_malformed/zstd_named_dbn.dbn", InputKind::book, "", "", 2, 1609160400000704060, 1609160400000750544,
     0x266660AFAD822047ULL},
    {"es_derived/esh4_20231225.ohlcv-1m.raw.csv", InputKind::bars, "", "", 60, 1703545200000000000, 1703548740000000000,
     0x0E68B9CE6C5891E0ULL},
    {"es_derived/esh4_20231225.ohlcv-1s.pretty.csv", InputKind::bars, "", "", 986, 1703545200000000000,
     1703548796000000000, 0x709DCD937C08FB20ULL},
    {"es_derived/esh4_20231225.trades.pretty.csv", InputKind::trades, "", "", 2973, 1703545200105900877,
     1703548796799481333, 0x219BCD837B57B43AULL},
    {"es_derived/esh4_20231225.trades.raw.csv", InputKind::trades, "", "", 2973, 1703545200105900877,
     1703548796799481333, 0x219BCD837B57B43AULL},
    {"es_derived/esh4_20231225_2259.mbp-10.pretty.csv.zst", InputKind::book, "", "", 6000, 1703545147775635122,
     1703545353988010954, 0x67593E465E672376ULL},
    {"es_derived/esh4_20231225_2259.mbp-10.raw.csv.zst", InputKind::book, "", "", 3000, 1703545147775635122,
     1703545267385984172, 0x67FDF1DB39483482ULL},
    {"ohlcv/ES_5min_202602-202604.csv.zst", InputKind::bars, "", "America/New_York", 13768, 1771304700000000000,
     1777433700000000000, 0x85F158DD1B4B1410ULL},
    {"ohlcv/ES_2min_202603-202604.csv.zst", InputKind::bars, "", "America/New_York", 18692, 1773964800000000000,
     1777433760000000000, 0x67EBFBDC62F1B040ULL},
    {"ohlcv/nautilus_6EH4.XCME_1min_bars_20240101_20240131.csv.zst", InputKind::bars, "", "", 29996,
     1704150000000000000, 1706745480000000000, 0xE3DE0D7ED0F92C80ULL},
    {"ohlcv/nautilus_6EH4.XCME_1min_bars_semicolon.csv", InputKind::bars, "", "", 9, 1704150060000000000,
     1704150540000000000, 0xD81A28EDD2AF62C0ULL},
    {"ohlcv/nautilus_btc-perp-20211231-20220201_1m.csv.zst", InputKind::bars, "", "UTC", 45031, 1640991660000000000,
     1643693460000000000, 0x08F851DC67A98101ULL},
    {"ohlcv/nautilus_binance_kline_ADABTC-1m-2021-11-28.csv", InputKind::bars, "", "", 11, 1638057600000000000,
     1638058200000000000, 0xAE1AE2DAE84168B0ULL},
    {"ohlcv/nautilus_binance_kline_noheader_ADABTC-1m-2021-11-27.csv", InputKind::bars, "", "", 10, 1637971200000000000,
     1637971740000000000, 0xF90B574389DD82B8ULL},
    {"ohlcv/mt5_EURUSD5_2025.csv.zst", InputKind::bars, "", "Europe/Athens", 28183, 1743804300000000000,
     1755877500000000000, 0x7E29C46397FE0740ULL},
    {"ohlcv/mt4_noheader_EURUSD60_2013-2014.csv", InputKind::bars, "", "Europe/Athens", 3070, 1385719200000000000,
     1401480000000000000, 0xA4065F7D65745800ULL},
    {"ohlcv/lean_20131007_spy_minute_trade.csv", InputKind::bars, "", "America/New_York", 828, 1381132800000000000,
     1381190340000000000, 0x1F03BBC891031CC0ULL},
    {"ohlcv/lean_es_minute_201310/20131006_es_minute_trade_201312.csv", InputKind::bars, "", "UTC", 118,
     1381096800000000000, 1381103940000000000, 0xFF9DEA78743A5BE0ULL},
    {"ohlcv/lean_es_minute_201310/20131006_es_minute_trade_201403.csv", InputKind::bars, "", "UTC", 10,
     1381096800000000000, 1381102800000000000, 0xBEC82378A94EF120ULL},
    {"ohlcv/lean_es_minute_201310/20131007_es_minute_trade_201312.csv", InputKind::bars, "", "UTC", 1344,
     1381104000000000000, 1381190340000000000, 0xBDD6A5ABD9D8D4B0ULL},
    {"ohlcv/lean_es_minute_201310/20131007_es_minute_trade_201403.csv", InputKind::bars, "", "UTC", 325,
     1381104180000000000, 1381190220000000000, 0x8285735342F19B10ULL},
    {"ohlcv/lean_es_minute_201310/20131007_es_minute_trade_201406.csv", InputKind::bars, "", "UTC", 2,
     1381128720000000000, 1381152900000000000, 0x96888B71ED8CA050ULL},
    {"ohlcv/lean_es_minute_201310/20131218_es_minute_trade_201312.csv", InputKind::bars, "", "UTC", 1138,
     1387324800000000000, 1387411140000000000, 0xF423A7730F36E280ULL},
    {"ohlcv/lean_es_minute_201310/20131218_es_minute_trade_201403.csv", InputKind::bars, "", "UTC", 1348,
     1387324800000000000, 1387411140000000000, 0xEBEA37FFD3C6AF80ULL},
    {"ohlcv/lean_es_minute_201310/20131218_es_minute_trade_201406.csv", InputKind::bars, "", "UTC", 154,
     1387325160000000000, 1387411080000000000, 0x1C58DE3664B2F0D0ULL},
    {"ohlcv/lean_es_minute_201310/20131218_es_minute_trade_201409.csv", InputKind::bars, "", "UTC", 3,
     1387377780000000000, 1387401060000000000, 0x7C48B20841141220ULL},
    {"ohlcv/lean_es_minute_201310/20131218_es_minute_trade_201412.csv", InputKind::bars, "", "UTC", 4,
     1387360620000000000, 1387393140000000000, 0x4C0443A366C7A930ULL},
    {"ohlcv/lean_es_minute_201310/20131220_es_minute_trade_201312.csv", InputKind::bars, "", "UTC", 533,
     1387497600000000000, 1387549740000000000, 0x2BFAD9ADA5DC2400ULL},
    {"ohlcv/lean_es_minute_201310/20131220_es_minute_trade_201403.csv", InputKind::bars, "", "UTC", 1308,
     1387497600000000000, 1387577640000000000, 0x0A0623D9AC513020ULL},
    {"ohlcv/lean_es_minute_201310/20131220_es_minute_trade_201406.csv", InputKind::bars, "", "UTC", 217,
     1387499460000000000, 1387577520000000000, 0x70E74AEDDB4BDBD0ULL},
    {"ohlcv/lean_es_minute_201310/20131220_es_minute_trade_201409.csv", InputKind::bars, "", "UTC", 1,
     1387538340000000000, 1387538340000000000, 0xC8F0693F0737C620ULL},
    {"ohlcv/lean_es_minute_201310/20131220_es_minute_trade_201412.csv", InputKind::bars, "", "UTC", 3,
     1387552200000000000, 1387554660000000000, 0xF4761AEB85FACA50ULL},
    {"ticks/nautilus_tardis_bitmex_trades_XBTUSD.csv", InputKind::trades, "", "", 10, 1583020803307160000,
     1583020803336743000, 0x3B33976C28001B77ULL},
    {"lob/nautilus_tardis_book_snapshot_25_BTCUSDT.csv", InputKind::book, "", "", 10, 1598918403810979000,
     1598918404009468000, 0x3F24CC8225261E13ULL},
    {"lob/nautilus_tardis_book_snapshot_5_BTCUSDT.csv", InputKind::book, "", "", 10, 1598918403810979000,
     1598918404289427000, 0xB8EB17714CFDC595ULL},
};

TEST(ReaderFiles, HoldWhatAnIndependentDecoderFound) {
  FH_NEEDS_SHARED("data");
  for (const Expected& expected : kExpected) {
    SCOPED_TRACE(std::string(expected.file) + " as " + std::to_string(static_cast<int>(expected.kind)) + " " +
                 expected.symbol);
    DataConfig config;
    config.symbol = expected.symbol;
    config.timezone = expected.timezone;
    Checksum sink;
    DataReport report;
    ReadSummary summary;
    try {
      summary = read_file(shared(std::string("data/") + expected.file), expected.kind, config, sink, report);
    } catch (const Error& error) {
      ADD_FAILURE() << error.sentence();
      continue;
    }
    EXPECT_EQ(summary.records, expected.records);
    EXPECT_EQ(sink.first, expected.first);
    EXPECT_EQ(sink.last, expected.last);
    EXPECT_EQ(sink.hash, expected.checksum);
  }
}

struct Refused {
  const char* file;
  InputKind kind;
  const char* part;     // of the message
  std::int64_t offset;  // -1: none (text has lines), -2: one, of the compressed file
};

const Refused kRefused[] = {
    {"dbn_malformed/dataset_no_nul.dbn", InputKind::book, "dataset", 8},
    {"dbn_malformed/mappings_count_huge.dbn", InputKind::book, "2147483647", 195},
    {"dbn_malformed/metadata_len_too_small.dbn", InputKind::book, "99 bytes (allowed: 100", 4},
    {"dbn_malformed/only_magic.dbn", InputKind::book, "3 bytes", 3},
    {"dbn_malformed/prelude_only.dbn", InputKind::book, "360", 8},
    {"dbn_malformed/rtype_mbp10_but_len_of_trade.dbn", InputKind::book, "48 bytes, but a mbp-10 record has 368", 360},
    {"dbn_malformed/schema_definition_len_nonzero.dbn", InputKind::book, "16 (allowed: 0)", 108},
    {"dbn_malformed/symbol_cstr_len_0.dbn", InputKind::book, "symbol length is 0", 53},
    {"dbn_malformed/symbols_count_huge.dbn", InputKind::book, "4294967295", 112},
    {"dbn_malformed/version_255.dbn", InputKind::book, "version 255", 3},
    {"dbn_malformed/zstd_bad_checksum.dbn.zst", InputKind::book, "checksum", 369},
    {"dbn_malformed/zstd_truncated.dbn.zst", InputKind::book, "cut", 186},
    {"dbn/test_data.mbp-10.dbz", InputKind::book, "DBZ", 0},
    {"dbn/test_data.ohlcv-1m.dbz", InputKind::bars, "DBZ", 0},
    {"dbn/test_data.definition.v1.dbn.frag", InputKind::bars, "fragment", 0},
    {"dbn/test_data.definition.v3.dbn.frag.zst", InputKind::bars, "fragment", -2},
    {"dbn/multi-frame.definition.v1.dbn.frag.zst", InputKind::bars, "fragment", -2},
    {"dbn/test_data.definition.v3.dbn.zst", InputKind::bars, "holds definition", -2},
    {"dbn/test_data.statistics.v2.dbn.zst", InputKind::bars, "holds statistics", -2},
    {"dbn/test_data.bbo-1m.dbn", InputKind::trades, "holds bbo-1m", 24},
    {"dbn/test_data.tbbo.dbn", InputKind::book, "holds tbbo", 24},
    {"dbn/test_data.cmbp-1.dbn", InputKind::book, "holds cmbp-1", 24},
    {"es_derived/esh4_20231225.trades.v3.dbn.zst", InputKind::bars, "holds trades", -2},
    {"ticks/nautilus_quote_tick_data_histdata_ascii.csv", InputKind::bars, "4 columns without a header", -1},
    {"ticks/nautilus_truefx_usdjpy-ticks.csv", InputKind::trades, "the columns are quotes", -1},
    {"ohlcv/lean_es_minute_201310/20131007_es_minute_quote_201312.csv", InputKind::bars, "11 columns without a header",
     -1},
};

TEST(ReaderFiles, AreRefusedWithPlaceAndReason) {
  FH_NEEDS_SHARED("data");
  for (const Refused& refused : kRefused) {
    SCOPED_TRACE(refused.file);
    const Error error = error_of(shared(std::string("data/") + refused.file), refused.kind);
    EXPECT_NE(std::string(error.what()).find(refused.part), std::string::npos) << error.what();
    EXPECT_FALSE(error.place().file.empty());
    EXPECT_FALSE(error.place().hint.empty());
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    if (refused.offset >= 0) {
      ASSERT_TRUE(error.place().offset.has_value());
      EXPECT_EQ(*error.place().offset, static_cast<std::uint64_t>(refused.offset));
    }
    EXPECT_EQ(error.place().offset.has_value(), refused.offset != -1);
  }
}

struct Warned {
  const char* file;
  const char* part;
  std::uint64_t offset;
  std::uint64_t records;
  bool truncated;
};

TEST(ReaderFiles, LoadWithOneWarning) {
  FH_NEEDS_SHARED("data");
  const Warned warned[] = {{"action_invalid_Z.dbn", "action 'Z'", 360, 1, false},
                           {"side_invalid_Q.dbn", "side 'Q'", 360, 1, false},
                           {"interval_bad_date_20201345.dbn", "20201345", 274, 2, false},
                           {"record_len_255_past_eof.dbn", "368 bytes at byte 728 are dropped", 728, 1, true},
                           {"truncated_in_header.dbn", "7 bytes at byte 728 are dropped", 728, 1, true},
                           {"truncated_mid_record.dbn", "100 bytes at byte 728 are dropped", 728, 1, true}};
  for (const Warned& file : warned) {
    SCOPED_TRACE(file.file);
    Collected sink;
    DataReport report;
    const ReadSummary summary =
        read_file(shared(std::string("data/dbn_malformed/") + file.file), InputKind::book, {}, sink, report);
    EXPECT_EQ(summary.records, file.records);
    EXPECT_EQ(summary.truncated, file.truncated);
    ASSERT_EQ(report.warnings.size(), 1U);
    EXPECT_NE(report.warnings[0].message.find(file.part), std::string::npos) << report.warnings[0].message;
    ASSERT_TRUE(report.warnings[0].offset.has_value());
    EXPECT_EQ(*report.warnings[0].offset, file.offset);
  }
}

TEST(ReaderFiles, SeveralInstrumentsNeedASymbol) {
  FH_NEEDS_SHARED("data");
  const auto path =
      shared("data/dbn_nautilus/historical_bars_catalog__futures_ohlcv-1m_2024-07-01T23-40_2024-07-02T00-10.dbn.zst");
  const Error several = error_of(path, InputKind::bars);
  EXPECT_EQ(several.kind(), ErrorKind::usage);
  EXPECT_NE(std::string(several.what()).find("ESU4, NQU4"), std::string::npos) << several.what();
  DataConfig config;
  config.symbol = "ESZ4";
  const Error absent = error_of(path, InputKind::bars, config);
  EXPECT_EQ(absent.kind(), ErrorKind::usage);
  EXPECT_NE(std::string(absent.what()).find("ESU4, NQU4"), std::string::npos) << absent.what();
  config.symbol = "4358";  // an instrument id
  Collected sink;
  DataReport report;
  EXPECT_EQ(read_file(path, InputKind::bars, config, sink, report).symbol, "NQU4");
  EXPECT_EQ(sink.bars.size(), 30U);
}

TEST(ReaderFiles, ANaiveTimeWithoutZoneIsAUsageError) {
  FH_NEEDS_SHARED("data");
  const Error error = error_of(shared("data/ohlcv/ES_5min_202602-202604.csv.zst"), InputKind::bars);
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.place().field, "data.timezone");
  EXPECT_NE(error.place().hint.find("--timezone"), std::string::npos);
}

}  // namespace
}  // namespace foxhunt::market::test
