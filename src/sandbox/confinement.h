// Confinement: one command in a sandbox, as we see it from outside: how it is started, and what it
// was refused. Owned by the caller that runs the command. It outlives the command; its files are
// removed with it. Namespaces need none.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "sandbox/mechanism.h"
#include "sandbox/profile.h"

namespace stet::sandbox {

/// A folder under $TMPDIR that is removed with this object.
class OwnFolder {
 public:
  static Result<OwnFolder> Make(std::string_view prefix);
  OwnFolder(OwnFolder&& other) noexcept;
  OwnFolder& operator=(OwnFolder&&) = delete;
  ~OwnFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// A profile, and by what it is enforced.
struct Chosen {
  Profile profile;
  Mechanism mechanism = Mechanism::kBubblewrap;
};

/// kUnsupported when the profile asks for what the mechanism cannot do, with what can.
Status CheckMeans(const Profile& profile, Mechanism mechanism);

class Confinement {
 public:
  /// kUnsupported as CheckMeans has it.
  static Result<Confinement> Make(Profile profile, Mechanism mechanism);
  Confinement(Confinement&&) noexcept = default;
  Confinement& operator=(Confinement&&) = delete;
  ~Confinement() = default;

  /// What a guard that starts the command is told (SpawnOptions::box).
  [[nodiscard]] const std::string& order() const { return order_; }
  [[nodiscard]] const Profile& profile() const { return profile_; }
  [[nodiscard]] Mechanism mechanism() const { return mechanism_; }

  /// The hosts that it was refused so far, each once: "example.com:443".
  [[nodiscard]] Texts RefusedHosts() const;

 private:
  Confinement(Profile profile, Mechanism mechanism)
      : profile_(std::move(profile)), mechanism_(mechanism) {}
  /// Its files, where it needs some.
  Status MakeFiles();
  Status MakeStandIn();

  std::optional<OwnFolder> folder_;
  Profile profile_;
  Mechanism mechanism_;
  std::string empty_;
  std::string report_;
  std::string order_;
};

}  // namespace stet::sandbox
