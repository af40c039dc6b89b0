// foxhunt-cli devices
#include "app/commands/commands.h"
#include "app/output.h"
#include "engine/device/registry.h"

namespace foxhunt::app {

Outcome run_devices(const Arguments&, const Manner&) {
  Json rows = Json::array();
  for (const device::DeviceInfo& info : device::list_devices()) {
    rows.push_back({{"name", info.name},
                    {"available", info.available},
                    {"reason", info.reason},
                    {"description", info.description},
                    {"library", info.library},
                    {"driver", info.driver},
                    {"threads", info.threads},
                    {"memory_bytes", info.memory_bytes}});
  }
  return {{{"devices", std::move(rows)}}};
}

std::string devices_text(const Json& document) {
  std::string out;
  for (const Json& row : document.at("devices")) {
    const auto text = [&](const char* name) { return row.at(name).get<std::string>(); };
    if (!row.at("available").get<bool>()) {
      out += fmt::format("{:<8} unavailable: {}\n", text("name"), text("reason"));
      continue;
    }
    out += fmt::format("{:<8} {}, {} {}, {}{}, {:.1f} GiB\n", text("name"), text("description"),
                       row.at("threads").get<int>(), text("name") == "cpu" ? "threads" : "multiprocessors",
                       text("library"), text("driver").empty() ? "" : ", driver " + text("driver"),
                       row.at("memory_bytes").get<double>() / (1 << 30));
  }
  return out;
}

}  // namespace foxhunt::app
