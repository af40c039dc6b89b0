// The reader's half of the ring's protocol: step number last with acquire, body, step number first.
#include "engine/telemetry/step_ring_reader.h"

#include <cstring>

namespace foxhunt::telemetry {

using namespace kernels;

StepRingReader::StepRingReader(const MappedTelemetry& mapped, std::uint64_t next_step)
    : mapped_(mapped), next_(next_step) {
  if (next_ == 0) {
    const std::uint32_t completed = load_acquire_word(&mapped_.completed);
    next_ = completed ? completed + std::uint64_t{1} : 0;
  }
}

// The step counter is published as 32 bits: the newest step is the one nearest to what was read last.
std::uint64_t StepRingReader::head() const {
  const std::uint32_t completed = load_acquire_word(&mapped_.completed);
  if (next_ == 0) return completed;
  const auto ahead = static_cast<std::int32_t>(completed - static_cast<std::uint32_t>(next_ - 1));
  return next_ - 1 + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead));
}

bool StepRingReader::read(std::uint64_t step, StepRecord& out) const {
  const std::uint32_t* record = mapped_.ring[(step - 1) % kRingRecords];
  const auto wanted = static_cast<std::uint32_t>(step);
  std::uint32_t words[kStepWords];
  words[step_word_step_last] = load_acquire_word(&record[step_word_step_last]);
  if (words[step_word_step_last] != wanted) return false;
  for (int w = step_word_step_last - 1; w >= 0; --w) words[w] = load_acquire_word(&record[w]);
  if (words[step_word_step] != wanted) return false;
  std::memcpy(&out, words, sizeof out);
  return true;
}

int StepRingReader::drain(std::vector<StepRecord>& out) {
  const std::uint64_t newest = head();
  if (next_ == 0) {
    if (newest == 0) return 0;
    next_ = newest - (static_cast<std::uint32_t>(newest) - load_shared_word(&mapped_.first_step));
  }
  if (newest + 1 < next_) {
    ++rewinds_;
    next_ = newest + 1;
    return 0;
  }
  if (newest + 1 - next_ > kRingRecords) {
    const std::uint64_t oldest = newest + 1 - kRingRecords;
    missed_ += oldest - next_;
    next_ = oldest;
  }
  int count = 0;
  for (; next_ <= newest; ++next_) {
    StepRecord record;
    if (read(next_, record)) {
      out.push_back(record);
      ++count;
    } else {  // whole when it was published, so the writer has come round
      ++missed_;
      ++torn_;
    }
  }
  delivered_ += static_cast<std::uint64_t>(count);
  return count;
}

}  // namespace foxhunt::telemetry
