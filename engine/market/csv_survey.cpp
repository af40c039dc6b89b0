// Inference of CSV conventions; see csv_survey.h.
#include "engine/market/csv_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "engine/market/calendar.h"
#include "engine/market/csv_bar_survey.h"
#include "engine/market/csv_lines.h"
#include "engine/market/csv_numbers.h"
#include "engine/market/csv_time_survey.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kSampleLines = 20'000;
constexpr std::size_t kSampleBytes = std::size_t{4} << 20;

class Survey {
 public:
  Survey(const std::filesystem::path& path, InputKind kind, const DataConfig& config, DataReport& report,
         const Progress& progress)
      : path_(path), kind_(kind), config_(config), report_(report), progress_(progress) {}

  CsvLayout run() {
    take_sample();
    choose_delimiter();
    split_sample();
    choose_columns();
    choose_form();
    require_columns();
    if (!rows_.empty()) {
      choose_numbers();
      choose_times();
      if (kind_ == InputKind::bars) bar_survey().choose_volume();
    }
    return std::move(layout_);
  }

 private:
  using Row = std::vector<std::string_view>;

  void say(const std::string& what, const std::string& finding) {
    report_.inferred[path_.filename().string() + ": " + what] = finding;
  }

  [[noreturn]] void refuse(const std::string& message, const std::string& field, const std::string& hint) const {
    throw Error(message, ErrorPlace{path_.string(), std::nullopt, first_line_, field, hint});
  }

  BarSurvey bar_survey() {
    return {path_, config_, rows_, layout_,
            [this](const char* what, const std::string& finding) { say(what, finding); }};
  }

  void take_sample() {
    ByteStream stream(path_, Progress{nullptr, progress_.cancel});
    LineReader lines(stream);
    std::size_t bytes = 0;
    while (lines.next() && sample_.size() < kSampleLines && bytes < kSampleBytes) {
      if (lines.text().find_first_not_of(" \t") == std::string_view::npos || lines.text().front() == '#') continue;
      if (!lines.terminated() && sample_.size() > 1) break;  // it may be cut; the reader proper decides
      if (sample_.empty()) first_line_ = lines.line();
      sample_.emplace_back(lines.text());
      sample_lines_.push_back(lines.line());
      bytes += lines.bytes();
    }
    if (sample_.empty()) refuse("the file holds no line of text", "", "give a CSV file with one record a line");
  }

  // How many fields `delimiter` gives in nearly all of the lines after `skipped` first ones; 0 when they differ. A
  // preamble (a title, a source, "sep=;") is what comes before and is no table: fewer than three fields a line.
  std::size_t consistent_fields(char delimiter, std::size_t& skipped) const {
    constexpr std::size_t kLongestPreamble = 20;  // lines
    Row fields;
    std::vector<std::size_t> found;
    std::map<std::size_t, std::size_t> counts;
    for (const std::string& line : sample_) {
      found.push_back(split_fields(line, delimiter, fields) ? fields.size() : 0);
    }
    skipped = 0;
    while (skipped < std::min(found.size() - 1, kLongestPreamble) && found[skipped] < 3) ++skipped;
    for (std::size_t i = skipped; i < found.size(); ++i) {
      if (found[i] > 0) ++counts[found[i]];
    }
    for (const auto& [fields_found, lines] : counts) {
      if (lines * 20 >= (found.size() - skipped) * 19) return fields_found;
    }
    return 0;
  }

  void drop_preamble(std::size_t lines) {
    if (lines == 0) return;
    say("preamble", fmt::format("{} lines before the table, the first: '{}'", lines, sample_.front().substr(0, 60)));
    sample_.erase(sample_.begin(), sample_.begin() + static_cast<std::ptrdiff_t>(lines));
    sample_lines_.erase(sample_lines_.begin(), sample_lines_.begin() + static_cast<std::ptrdiff_t>(lines));
    first_line_ = sample_lines_.front();
  }

  static std::string shown(char delimiter) {
    return delimiter == '\t' ? "tab" : delimiter == ' ' ? "spaces" : fmt::format("'{}'", delimiter);
  }

  void choose_delimiter() {
    std::size_t preamble = 0;
    if (!config_.delimiter.empty()) {
      const std::string& wanted = config_.delimiter;
      layout_.delimiter = wanted == "tab" || wanted == "\\t" ? '\t'
                          : wanted == "bar"                  ? '|'
                          : wanted == "space"                ? ' '
                                                             : wanted.front();
      say("delimiter", shown(layout_.delimiter) + ", as data.delimiter says");
      if (consistent_fields(layout_.delimiter, preamble) > 0) drop_preamble(preamble);
      return;
    }
    // A tab or semicolon that splits all lines alike is the delimiter even where commas (of decimals) do so too.
    // One that takes the first line too comes before one that takes it as a preamble.
    for (const bool with_preamble : {false, true}) {
      for (const char candidate : {'\t', ';', '|', ',', ' '}) {
        if (consistent_fields(candidate, preamble) < (candidate == ' ' ? 6U : 3U)) continue;
        if (preamble > 0 && !with_preamble) continue;
        layout_.delimiter = candidate;
        drop_preamble(preamble);
        say("delimiter", shown(candidate));
        return;
      }
    }
    for (const char candidate :
         {'\t', ';', '|', ','}) {  // ragged rows: the reader proper names the first that does not fit
      Row fields;
      if (!split_fields(sample_.front(), candidate, fields) || fields.size() < 3) continue;
      layout_.delimiter = candidate;
      say("delimiter", shown(candidate));
      return;
    }
    refuse(fmt::format("the text is not a table: no comma, semicolon, tab or bar splits its lines (first: '{}')",
                       sample_.front().substr(0, 60)),
           "data.delimiter", "give a CSV file, or DBN");
  }

  void split_sample() {
    for (const std::string& line : sample_) {
      Row row;
      if (split_fields(line, layout_.delimiter, row)) rows_.push_back(std::move(row));
    }
    if (rows_.empty()) refuse("no line of the file can be split into fields", "", "check its quotes");
  }

  void choose_columns() {
    layout_.header = is_header(rows_.front());
    say("header", layout_.header ? "yes" : "none");
    if (layout_.header) {
      layout_.header_text = sample_.front();
      const Row header = rows_.front();
      rows_.erase(rows_.begin());
      columns_by_name(header, layout_);
      if (layout_.columns.time < 0) find_time();
    } else if (!columns_by_shape(rows_, kind_, layout_)) {
      refuse(fmt::format("{} columns without a header are not {}: '{}'{}", rows_.front().size(), needed(),
                         sample_.front().substr(0, 80), instead()),
             "columns", "add a header line that names the columns");
    }
    layout_.first_line = first_line_;
    const std::size_t width = layout_.names.size();
    std::erase_if(rows_, [width](const Row& row) { return row.size() != width; });
    if (layout_.family != CsvFamily::other) say("format", fmt::format("CSV, {}", family_name(layout_.family)));
  }

  // A header without any known name for the time: the column that holds times.
  void find_time() {
    const std::size_t width = layout_.names.size();
    std::vector<Row> rows;
    for (const Row& row : rows_) {
      if (row.size() == width && rows.size() < 1000) rows.push_back(row);
    }
    layout_.columns.time = time_by_content(rows);
    if (layout_.columns.time >= 0)
      say("time column", fmt::format("'{}', by what it holds", layout_.names[layout_.columns.time]));
  }

  // What a file without a header seems to be, when it is not what is asked for.
  std::string instead() const {
    for (const auto& [kind, what] : {std::pair(InputKind::bars, "bars"), std::pair(InputKind::book, "quotes: a book"),
                                     std::pair(InputKind::trades, "trades")}) {
      CsvLayout other;
      if (kind != kind_ && columns_by_shape(rows_, kind, other)) return fmt::format(" (they look like {})", what);
    }
    return "";
  }

  // What the rows of a book file are.
  void choose_form() {
    CsvColumns& c = layout_.columns;
    const bool increments = c.snapshot >= 0 || c.update_type >= 0;
    if (kind_ == InputKind::trades &&
        (increments || (c.order_id >= 0 && c.action >= 0 && layout_.family == CsvFamily::other))) {
      refuse("the rows are book updates, not trades", "columns", "give the file as the book (--mbp10)");
    }
    if (kind_ == InputKind::bars && c.volumes.empty()) c.volume = -1;
    if (kind_ != InputKind::book) return;
    if (c.level_count > 0) {
      say("book", fmt::format("{} of {} levels a side{}", c.level_count, kBookLevels,
                              c.level_sizes ? "" : "; no sizes in the file: each quote counts as 1"));
    } else if (c.order_id >= 0 && c.action >= 0 && c.side >= 0 && c.price >= 0 && c.size >= 0) {
      layout_.book_form = BookForm::order;
      say("book", "orders replayed into ten levels");
    } else if (increments && c.side >= 0 && c.price >= 0 && c.size >= 0) {
      layout_.book_form = BookForm::increment;
      say("book", "new sizes of price levels, applied in order; rows of one time are one event");
    }
  }

  const char* needed() const {
    switch (kind_) {
      case InputKind::bars:
        return "bars (time, open, high, low, close and volume)";
      case InputKind::book:
        return "book updates (levels such as bid_px_00 ... ask_ct_09, quotes, sizes of price levels, or orders)";
      case InputKind::trades:
        return "trades (time, price and size)";
    }
    return "";
  }

  void require_columns() {
    const CsvColumns& c = layout_.columns;
    std::string missing;
    const auto need = [&missing](int column, const char* name) {
      if (column < 0) missing += (missing.empty() ? "" : ", ") + std::string(name);
    };
    need(c.time, "time");
    if (kind_ == InputKind::bars) {
      need(c.open, "open");
      need(c.high, "high");
      need(c.low, "low");
      need(c.close, "close");
    } else if (kind_ == InputKind::trades) {
      need(c.price, "price");
      need(c.size, "size");
    } else {
      need(c.level_count > 0 || layout_.book_form != BookForm::levels ? 0 : -1, "book levels");
    }
    if (missing.empty()) return;
    std::string held;
    for (const std::string& name : layout_.names) {
      if (held.size() < 120) held += (held.empty() ? "" : ", ") + name;
    }
    const char* quotes = kind_ != InputKind::book && c.level_count > 0 ? " (the columns are quotes: a book)" : "";
    refuse(fmt::format("the columns do not make {}: missing {}; there: {}{}", needed(), missing, held, quotes),
           "columns", "give the file of this input, or name its columns so");
  }

  std::vector<int> price_columns() const {
    const CsvColumns& c = layout_.columns;
    if (kind_ == InputKind::bars) return {c.open, c.high, c.low, c.close};
    std::vector<int> columns;
    if (c.price >= 0) columns.push_back(c.price);
    for (int i = 0; i < c.level_count && kind_ == InputKind::book; ++i) {
      columns.push_back(c.levels[i].bid_price);
      columns.push_back(c.levels[i].ask_price);
    }
    return columns;
  }

  std::vector<int> size_columns() const {
    const CsvColumns& c = layout_.columns;
    if (kind_ == InputKind::bars) return c.volumes;
    std::vector<int> columns;
    if (c.size >= 0) columns.push_back(c.size);
    for (int i = 0; i < c.level_count && kind_ == InputKind::book && c.level_sizes; ++i) {
      columns.push_back(c.levels[i].bid_size);
      columns.push_back(c.levels[i].ask_size);
    }
    return columns;
  }

  // The digits after the point that the book's sizes need, as far as 32 bits leave room for a hundred times the
  // largest.
  void choose_size_unit() {
    double largest = 1;
    for (const Row& row : rows_) {
      for (const int column : size_columns()) {
        const auto size = parse_decimal(row[column], layout_.numbers);
        if (!size || size->mantissa == 0) continue;
        layout_.size_decimals = std::max(layout_.size_decimals, decimals(*size));
        largest = std::max(largest, to_double(*size));
      }
    }
    const int room = static_cast<int>(std::floor(std::log10(4.2e7 / largest)));
    layout_.size_decimals = std::clamp(layout_.size_decimals, 0, std::max(0, room));
    if (layout_.size_decimals > 0) {
      say("sizes", fmt::format("fractional: the book counts them in units of 1e-{}", layout_.size_decimals));
    }
  }

  NumberEvidence::Stated stated_signs() const {
    NumberEvidence::Stated stated;
    if (!config_.decimal_sign.empty()) stated.decimal = config_.decimal_sign.front();
    const std::string& group = config_.thousands_sign;
    if (!group.empty()) stated.thousands = group == "none" ? '\0' : group == "space" ? ' ' : group.front();
    return stated;
  }

  void choose_numbers() {
    NumberEvidence evidence;
    for (const Row& row : rows_) {
      for (const int column : price_columns()) evidence.add(row[column]);
      for (const int column : size_columns()) evidence.add(row[column]);
    }
    const NumberEvidence::Stated stated = stated_signs();
    layout_.numbers = evidence.style(path_.string(), stated);
    const bool by_configuration = stated.decimal || stated.thousands;
    if (layout_.numbers.decimal != '.' || layout_.numbers.thousands != 0 || by_configuration) {
      say("numbers",
          fmt::format("decimal '{}'{}{}", layout_.numbers.decimal,
                      layout_.numbers.thousands == 0 ? std::string()
                                                     : fmt::format(", thousands '{}'", layout_.numbers.thousands),
                      by_configuration ? ", as the configuration says" : ""));
    }
    choose_scale();
    if (!layout_.header && kind_ == InputKind::bars) bar_survey().check_shape();
    if (kind_ == InputKind::book) choose_size_unit();
  }

  // Decimals that are not zeros at the end.
  static int decimals(Decimal number) {
    while (number.exponent < 0 && number.mantissa % 10 == 0) {
      number.mantissa /= 10;
      ++number.exponent;
    }
    return std::max(0, -number.exponent);
  }

  void choose_scale() {
    if (config_.price_scale != 0) {
      const auto scale = exact_scale(config_.price_scale);
      if (!scale) {
        throw usage_error(fmt::format("price_scale is {} (allowed: above 0)", config_.price_scale),
                          ErrorPlace{.file = path_.string(), .field = "data.price_scale"});
      }
      layout_.scale = *scale;
      return;
    }
    bool whole = true, hundreds = true;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Row& row : rows_) {
      for (const int column : price_columns()) {
        const auto price = parse_decimal(row[column], layout_.numbers);
        if (!price || price->mantissa == kUndefinedPrice) continue;
        whole = whole && price->exponent == 0;
        hundreds = hundreds && price->mantissa % 100 == 0;
        least = std::min(least, price->mantissa);
      }
    }
    if (layout_.family == CsvFamily::databento && whole) {
      layout_.scale = {1, -9};
      say("prices", "whole numbers in units of 1e-9 (Databento's raw style)");
    } else if (layout_.family == CsvFamily::lean && whole && hundreds && least >= 10'000) {
      layout_.scale = {1, -4};
      say("prices", "whole numbers in units of 0.0001, all whole cents (LEAN equities)");
    } else {
      say("prices", "as written");
    }
  }

  void choose_times() {
    TimeSurvey survey(path_, config_, layout_, progress_);
    CsvColumns& c = layout_.columns;
    const auto events = column(c.time);
    if (c.receive_time >= 0 && std::all_of(events.begin(), events.end(), is_undefined_time)) c.time = c.receive_time;
    layout_.time = survey.format(column(c.time), column(c.time_of_day), c.time);
    if (c.receive_time >= 0) layout_.receive_time = survey.format(column(c.receive_time), {}, c.receive_time);
    say("time", survey.describe(layout_.time, c.time_of_day >= 0));
    const bool local = layout_.time.kind == TimeFormat::Kind::midnight ||
                       (layout_.time.kind == TimeFormat::Kind::civil && !layout_.time.zoned);
    std::string evidence;
    layout_.zone = survey.zone(local, layout_.names[c.time], evidence);
    say("time zone", evidence);
    const std::vector<Time> times = sample_times();
    std::int64_t forward = 0, backward = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
      forward += times[i] > times[i - 1] ? 1 : 0;
      backward += times[i] < times[i - 1] ? 1 : 0;
    }
    layout_.descending = backward > forward;
    if (layout_.descending) say("order", "newest row first");
    if (kind_ == InputKind::bars) bar_survey().choose_bar(times);
    if (kind_ == InputKind::book && layout_.family == CsvFamily::lean) {
      layout_.interval = bar_survey().interval(times, evidence);
      say("book time", fmt::format("end of each bar of quotes, {} s after its stamp, {}",
                                   static_cast<double>(layout_.interval) / 1e9, evidence));
    }
  }

  std::vector<std::string_view> column(int index) const {
    std::vector<std::string_view> values;
    if (index < 0) return values;
    for (const Row& row : rows_) values.push_back(row[index]);
    return values;
  }

  std::vector<Time> sample_times() const {
    TimeReader reader(layout_.time, layout_.zone, false);
    std::vector<Time> times;
    for (const Row& row : rows_) {
      Time time = 0;
      const std::string_view of_day =
          layout_.columns.time_of_day >= 0 ? row[layout_.columns.time_of_day] : std::string_view();
      if (reader.read(row[layout_.columns.time], of_day, time) == TimeReader::Status::ok) times.push_back(time);
    }
    return times;
  }

  const std::filesystem::path& path_;
  InputKind kind_;
  const DataConfig& config_;
  DataReport& report_;
  const Progress& progress_;
  std::vector<std::string> sample_;          // lines
  std::vector<std::uint64_t> sample_lines_;  // their numbers
  std::uint64_t first_line_ = 1;
  std::vector<Row> rows_;  // views into sample_
  CsvLayout layout_;
};

}  // namespace

CsvLayout survey_csv(const std::filesystem::path& path, InputKind kind, const DataConfig& config, DataReport& report,
                     const Progress& progress) {
  return Survey(path, kind, config, report, progress).run();
}

}  // namespace foxhunt::market
