// Flattening of graphs into levels, and their execution.
#include "engine/device/host/plan.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/host/thread_pool.h"

namespace foxhunt::device::host {
namespace {

constexpr double kTooShort = 4000;      // ns under which a hand-over to the pool can never pay
constexpr std::uint32_t kProbe = 128;   // every so many runs the slower way is timed again
constexpr std::uint32_t kColdRuns = 1;  // runs that say nothing yet: memory and code are touched for the first time
constexpr double kFaster = 0.5, kSlower = 0.1;  // weights of a new time: an interrupted run should not count much

// Whether the items of `level` are run over the pool this time.
bool share(Level& level) {
  const std::uint32_t run = level.runs++;
  if (run <= kColdRuns || level.serial_ns < kTooShort) return false;
  if (level.shared_ns == 0) return true;
  const bool faster = level.shared_ns < level.serial_ns;
  return run % kProbe == 0 ? !faster : faster;
}

void learn(double& known, double now, bool cold) {
  if (known == 0 || cold)
    known = now;
  else
    known += (now < known ? kFaster : kSlower) * (now - known);
}

// What is done when a node has finished: nodes of the flat list, as a set.
using Finished = std::vector<bool>;

void unite(Finished& to, const Finished& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i]) to[i] = true;
}

struct LevelDraft {
  std::vector<const Work*> works;
  std::vector<int> events;
  std::vector<Conditional> conditionals;
};

class Flattener {
 public:
  Flattener(Plan& plan, int threads) : plan_(plan), threads_(threads) {}

  Sequence sequence(const HostGraph& graph, Finished& finished) {
    std::vector<LevelDraft> levels;
    add(graph, 0, levels, finished);
    Sequence out;
    for (LevelDraft& draft : levels) {
      Level level;
      level.events = std::move(draft.events);
      level.conditionals = std::move(draft.conditionals);
      level.first_item = out.items.size();
      // The long pieces of products first, so that short blocks fill the end.
      std::stable_partition(draft.works.begin(), draft.works.end(),
                            [](const Work* work) { return std::holds_alternative<ProductWork>(*work); });
      for (const Work* work : draft.works) append_items(*work, threads_, out.items);
      level.items = out.items.size() - level.first_item;
      out.levels.push_back(std::move(level));
    }
    return out;
  }

 private:
  // Returns the level at which everything of `graph` is finished when it starts at level `start`. `finished` is what
  // was done before; on return, what is done after.
  std::size_t add(const HostGraph& graph, std::size_t start, std::vector<LevelDraft>& levels, Finished& finished) {
    std::vector<std::size_t> ends(graph.list().size());
    std::vector<Finished> done(graph.list().size());
    std::size_t last = start;
    Finished all = finished;
    for (std::size_t i = 0; i < graph.list().size(); ++i) {
      const GraphNode& node = graph.list()[i];
      std::size_t level = start;
      done[i] = finished;
      for (const NodeId before : node.after) {
        level = std::max(level, ends[static_cast<std::size_t>(before)]);
        unite(done[i], done[static_cast<std::size_t>(before)]);
      }
      ends[i] = node.kind == NodeKind::child ? add(*node.graph, level, levels, done[i])
                                             : add_single(node, level, levels, done[i]);
      last = std::max(last, ends[i]);
      unite(all, done[i]);
    }
    finished = std::move(all);
    return last;
  }

  std::size_t add_single(const GraphNode& node, std::size_t level, std::vector<LevelDraft>& levels, Finished& done) {
    if (levels.size() <= level) levels.resize(level + 1);
    if (node.kind == NodeKind::event_record) {
      levels[level].events.push_back(static_cast<int>(plan_.events.size()));
      plan_.events.push_back(node.event);
      return level;
    }
    if (node.kind == NodeKind::work) {
      check_lane(*node.work, done);
      plan_.works.push_back(node.work);
      levels[level].works.push_back(node.work.get());
    } else {
      plan_.conditions.push_back(node.condition);
      Conditional conditional{node.kind, node.condition, nullptr};
      conditional.body = std::make_unique<Sequence>(sequence(*node.graph, done));
      levels[level].conditionals.push_back(std::move(conditional));
    }
    return level + 1;
  }

  // Numbers the node, and refuses a product whose workspace another one may be using at the same time.
  void check_lane(const Work& work, Finished& done) {
    const auto number = static_cast<std::size_t>(numbered_++);
    if (const auto* product = std::get_if<ProductWork>(&work)) {
      auto& others = lanes_[product->plan->lane];
      for (const auto& [other, text] : others)
        if (other >= done.size() || !done[other])
          throw Error(fmt::format("instantiate: products {} and {} both use lane '{}', and no edge orders them", text,
                                  product->plan->text, product->plan->lane),
                      {.hint = "give them different lanes or an edge"});
      others.emplace_back(number, product->plan->text);
    }
    if (done.size() <= number) done.resize(number + 1);
    done[number] = true;
  }

  Plan& plan_;
  int threads_;
  int numbered_ = 0;
  std::map<std::string, std::vector<std::pair<std::size_t, std::string>>> lanes_;
};

struct Runner {
  std::span<const std::shared_ptr<Completion>> events;
  ThreadPool& pool;
  std::byte* scratch;

  void run(Sequence& sequence) const {
    for (Level& level : sequence.levels) {
      for (const int event : level.events) events[static_cast<std::size_t>(event)]->signal();
      if (level.items > 0) run_items(sequence, level);
      for (const Conditional& conditional : level.conditionals) run_conditional(conditional);
    }
  }

  void run_items(const Sequence& sequence, Level& level) const {
    const WorkItem* first = sequence.items.data() + level.first_item;
    const int items = static_cast<int>(level.items);
    if (items == 1 || pool.threads() == 1) {
      for (int i = 0; i < items; ++i) run_item(first, i, scratch);
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    const bool shared = share(level);
    if (shared) {
      pool.run(items, run_item, first, scratch);
    } else {
      for (int i = 0; i < items; ++i) run_item(first, i, scratch);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    learn(shared ? level.shared_ns : level.serial_ns, took.count(), level.runs <= kColdRuns + 1);
  }

  void run_conditional(const Conditional& conditional) const {
    const auto holds = [&] { return __atomic_load_n(&conditional.condition->value, __ATOMIC_RELAXED) != 0; };
    if (conditional.kind == NodeKind::if_once) {
      if (holds()) run(*conditional.body);
    } else {
      while (holds()) run(*conditional.body);
    }
  }
};

}  // namespace

std::shared_ptr<Plan> make_plan(const HostGraph& graph, int threads) {
  auto plan = std::make_shared<Plan>();
  Finished finished;
  plan->root = Flattener(*plan, threads).sequence(graph, finished);
  return plan;
}

void run_plan(Plan& plan, std::span<const std::shared_ptr<Completion>> events, ThreadPool& pool, std::byte* scratch) {
  for (const std::shared_ptr<ConditionWord>& condition : plan.conditions)
    __atomic_store_n(&condition->value, condition->initial, __ATOMIC_RELAXED);
  Runner{events, pool, scratch}.run(plan.root);
}

}  // namespace foxhunt::device::host
