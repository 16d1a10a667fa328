#include "emulator/ledger.h"

#include <algorithm>
#include <chrono>

#include <fcntl.h>

#include "base/fs.h"

namespace stet::emulator {
namespace {

/// How long Requests waits for last bytes: a client that does not read could hold it for ever.
constexpr std::chrono::seconds kAllFinishedWait{2};

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::Open(const std::string& path) {
  Fd file;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(file, OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND));
  }
  return std::unique_ptr<Ledger>(new Ledger(std::move(file)));
}

Ledger::Handle Ledger::Begin(RequestRecord record) {
  auto entry = std::make_shared<Entry>();
  entry->record = std::move(record);
  entry->record.outcome = "active";
  const std::lock_guard lock(mutex_);
  entry->record.n = ++stats_.requests;
  stats_.max_active = std::max(stats_.max_active, ++stats_.active);
  bytes_ += entry->record.body.text.size();
  entries_.push_back(entry);
  while (entries_.size() > kMaxRecords || (bytes_ > kMaxRecordedBytes && entries_.size() > 1)) {
    bytes_ -= entries_.front()->record.body.text.size();
    entries_.pop_front();
  }
  return entry;
}

void Ledger::Finishing(const Handle& entry) {
  const std::lock_guard lock(mutex_);
  entry->finishing = true;
  ++finishing_;
  --stats_.active;
}

void Ledger::End(const Handle& entry) {
  const std::lock_guard lock(mutex_);
  if (!entry->finishing)
    --stats_.active;
  else if (--finishing_ == 0)
    finished_.notify_all();
  entry->finishing = false;
  if (!file_) return;
  // A record that cannot be written stops nothing: the replies matter more.
  (void)WriteAll(file_.get(), Encode(entry->record) + "\n");
}

std::vector<RequestRecord> Ledger::Requests() {
  std::unique_lock lock(mutex_);
  finished_.wait_for(lock, kAllFinishedWait, [&] { return finishing_ == 0; });
  std::vector<RequestRecord> records;
  records.reserve(entries_.size());
  for (const Handle& entry : entries_) records.push_back(entry->record);
  return records;
}

Stats Ledger::stats() {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void Ledger::Clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  bytes_ = 0;
  stats_.requests = 0;
  stats_.max_active = stats_.active;
}

}  // namespace stet::emulator
