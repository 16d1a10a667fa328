// Secrets of known kinds, made up, for tests of code that must not show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace stet {

inline std::string Letters(Random& random, std::size_t count) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string out;
  while (out.size() < count) out += kLetters[random.Below(kLetters.size())];
  return out;
}

/// What must be gone, and the text that holds it.
struct Planted {
  std::string secret;
  std::string text;
};

/// One of each of some fifty kinds.
inline std::vector<Planted> PlantSecrets(Random& random) {
  std::vector<Planted> planted;
  const auto token = [&](std::string_view prefix, std::size_t count) {
    const std::string rest = Letters(random, count);
    planted.push_back({rest, std::string(prefix) + rest});
  };
  for (const std::string_view prefix : {"AKIA", "ASIA"}) token(prefix, 16);
  for (const std::string_view prefix :
       {"ghp_",           "gho_",        "ghu_",      "ghs_",
        "ghr_",           "github_pat_", "glpat-",    "gldt-",
        "sk-ant-",        "sk-proj-",    "sk-or-",    "sk-",
        "AIza",           "ya29.",       "GOCSPX-",   "xoxb-",
        "xoxp-",          "xoxa-",       "xapp-",     "https://hooks.slack.com/services/",
        "sk_live_",       "sk_test_",    "rk_live_",  "whsec_",
        "npm_",           "pypi-",       "hf_",       "SG.",
        "key-",           "dop_v1_",     "shpat_",    "sq0atp-",
        "EAACEdEose0cBA", "hvs.",        "dckr_pat_", "lin_api_",
        "xai-",           "gsk_"})
    token(prefix, 44);
  token("eyJ", 70);
  token("AGE-SECRET-KEY-", 58);
  for (const std::string_view before :
       {"password=", "PASSWORD: ", "\"apiKey\": \"", "--client_secret=", "aws_secret_access_key = ",
        "Authorization: Bearer ", "authorization: basic ", "AccountKey="}) {
    const std::string value = Letters(random, 24);
    planted.push_back({value, std::string(before) + value});
  }
  const std::string word = Letters(random, 12);
  planted.push_back({word, "postgres://user:" + word + "@host:5432/db"});
  const std::string body = Letters(random, 64);
  planted.push_back(
      {body, "-----BEGIN RSA PRIVATE KEY-----\n" + body + "\n-----END RSA PRIVATE KEY-----"});
  return planted;
}

}  // namespace stet
