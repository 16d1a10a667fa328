// The catalogue's data: one row a model. Prices are US dollars per million tokens: input, output,
// reading and writing a cache.
#include "provider/catalogue.h"

namespace stet::provider {
namespace {

consteval std::int64_t Micro(double dollars) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): lround is no constant expression.
  return static_cast<std::int64_t>((dollars * 1'000'000) + 0.5);
}

consteval Prices Usd(double input, double output, double cache_read, double cache_write) {
  return {.input = Micro(input),
          .output = Micro(output),
          .cache_read = Micro(cache_read),
          .cache_write = Micro(cache_write)};
}

constexpr ModelFacts kAnthropic[] = {
    {"claude-fable-5-1", "Claude Fable 5.1", 1'000'000, 128'000, Usd(10, 50, 0.25, 12.5),
     Thinking::kAdaptive, "low medium high xhigh max", true},
    {"claude-fable-5", "Claude Fable 5", 1'000'000, 128'000, Usd(10, 50, 1, 12.5),
     Thinking::kAdaptive, "low medium high xhigh max", true},
    {"claude-opus-5-5", "Claude Opus 5.5", 1'000'000, 128'000, Usd(4, 20, 0.2, 5),
     Thinking::kAdaptive, "low medium high xhigh max", true},
    {"claude-opus-5", "Claude Opus 5", 1'000'000, 128'000, Usd(5, 25, 0.5, 6.25),
     Thinking::kAdaptive, "low medium high xhigh max", true},
    {"claude-opus-4-8", "Claude Opus 4.8", 1'000'000, 128'000, Usd(5, 25, 0.5, 6.25),
     Thinking::kAdaptive, "low medium high xhigh max", true},
    {"claude-opus-4-7", "Claude Opus 4.7", 1'000'000, 128'000, Usd(5, 25, 0.5, 6.25),
     Thinking::kAdaptive, "low medium high xhigh max", true},
    {"claude-opus-4-6", "Claude Opus 4.6", 1'000'000, 128'000, Usd(5, 25, 0.5, 6.25),
     Thinking::kAdaptive, "low medium high max", true},
    {"claude-opus-4-5", "Claude Opus 4.5", 200'000, 64'000, Usd(5, 25, 0.5, 6.25),
     Thinking::kBudget, "", true},
    {"claude-sonnet-5-5", "Claude Sonnet 5.5", 1'000'000, 128'000, Usd(2, 10, 0.1, 2.5),
     Thinking::kAdaptive, "low medium high xhigh max", true},
    {"claude-sonnet-5", "Claude Sonnet 5", 1'000'000, 128'000, Usd(2, 10, 0.2, 2.5),
     Thinking::kAdaptive, "low medium high xhigh max", true},
    {"claude-sonnet-4-6", "Claude Sonnet 4.6", 1'000'000, 128'000, Usd(3, 15, 0.3, 3.75),
     Thinking::kAdaptive, "low medium high max", true},
    {"claude-sonnet-4-5", "Claude Sonnet 4.5", 200'000, 64'000, Usd(3, 15, 0.3, 3.75),
     Thinking::kBudget, "", true},
    {"claude-haiku-5-5", "Claude Haiku 5.5", 1'000'000, 128'000, Usd(0.1, 0.5, 0.01, 0.125),
     Thinking::kAdaptive, "low medium high xhigh max", true},
    {"claude-haiku-4-5", "Claude Haiku 4.5", 200'000, 64'000, Usd(1, 5, 0.1, 1.25),
     Thinking::kBudget, "", true},
};

constexpr ModelFacts kOpenAi[] = {
    {"gpt-6-astra", "GPT-6 Astra", 272'000, 128'000, Usd(10, 50, 1, 12.5), Thinking::kEffort,
     "low medium high xhigh max", true},
    {"gpt-6.1-sol", "GPT-6.1 Sol", 272'000, 128'000, Usd(2, 10, 0.1, 2.5), Thinking::kEffort,
     "low medium high xhigh max", true},
    {"gpt-6.1-terra", "GPT-6.1 Terra", 272'000, 128'000, Usd(1, 5, 0.05, 1.25), Thinking::kEffort,
     "none low medium high xhigh max", true},
    {"gpt-6-sol", "GPT-6 Sol", 272'000, 128'000, Usd(2, 10, 0.2, 2.5), Thinking::kEffort,
     "none low medium high xhigh max", true},
    {"gpt-6-luna", "GPT-6 Luna", 272'000, 128'000, Usd(0.1, 0.5, 0.01, 0.125), Thinking::kEffort,
     "none low medium high xhigh max", true},
    {"gpt-5.6-sol", "GPT-5.6 Sol", 272'000, 128'000, Usd(4, 20, 0.4, 5), Thinking::kEffort,
     "none low medium high xhigh max", true},
    {"gpt-5.6-terra", "GPT-5.6 Terra", 272'000, 128'000, Usd(2, 12, 0.2, 2.5), Thinking::kEffort,
     "none low medium high xhigh max", true},
    {"gpt-5.6-luna", "GPT-5.6 Luna", 272'000, 128'000, Usd(0.2, 1.2, 0.02, 0.25), Thinking::kEffort,
     "none low medium high xhigh max", true},
    {"gpt-5.5", "GPT-5.5", 272'000, 128'000, Usd(5, 30, 0.5, 0), Thinking::kEffort,
     "none low medium high xhigh", true},
    {"gpt-5.4", "GPT-5.4", 272'000, 128'000, Usd(2.5, 15, 0.25, 0), Thinking::kEffort,
     "none low medium high xhigh", true},
    {"gpt-5.4-mini", "GPT-5.4 mini", 400'000, 128'000, Usd(0.75, 4.5, 0.075, 0), Thinking::kEffort,
     "none low medium high xhigh", true},
    {"gpt-5.4-nano", "GPT-5.4 nano", 400'000, 128'000, Usd(0.2, 1.25, 0.02, 0), Thinking::kEffort,
     "none low medium high xhigh", true},
    {"gpt-5.3-codex", "GPT-5.3 Codex", 400'000, 128'000, Usd(1.75, 14, 0.175, 0), Thinking::kEffort,
     "none low medium high xhigh", true},
    {"gpt-5.2", "GPT-5.2", 400'000, 128'000, Usd(1.75, 14, 0.175, 0), Thinking::kEffort,
     "none low medium high xhigh", true},
    {"gpt-5.1", "GPT-5.1", 400'000, 128'000, Usd(1.25, 10, 0.125, 0), Thinking::kEffort,
     "none low medium high", true},
    {"gpt-5", "GPT-5", 400'000, 128'000, Usd(1.25, 10, 0.125, 0), Thinking::kEffort,
     "minimal low medium high", true},
    {"gpt-5-mini", "GPT-5 Mini", 400'000, 128'000, Usd(0.25, 2, 0.025, 0), Thinking::kEffort,
     "minimal low medium high", true},
    {"gpt-5-nano", "GPT-5 Nano", 400'000, 128'000, Usd(0.05, 0.4, 0.005, 0), Thinking::kEffort,
     "minimal low medium high", true},
    {"gpt-4.1", "GPT-4.1", 1'047'576, 32'768, Usd(2, 8, 0.5, 0), Thinking::kNone, "", true},
    {"gpt-4.1-mini", "GPT-4.1 mini", 1'047'576, 32'768, Usd(0.4, 1.6, 0.1, 0), Thinking::kNone, "",
     true},
    {"gpt-4o", "GPT-4o", 128'000, 16'384, Usd(2.5, 10, 1.25, 0), Thinking::kNone, "", true},
    {"gpt-4o-mini", "GPT-4o mini", 128'000, 16'384, Usd(0.15, 0.6, 0.075, 0), Thinking::kNone, "",
     true},
    {"o3", "o3", 200'000, 100'000, Usd(2, 8, 0.5, 0), Thinking::kEffort, "low medium high", true},
    {"o4-mini", "o4-mini", 200'000, 100'000, Usd(1.1, 4.4, 0.275, 0), Thinking::kEffort,
     "low medium high", true},
};

constexpr ModelFacts kGoogle[] = {
    {"gemini-4-argon", "Gemini 4 Argon", 1'048'576, 32'768, Usd(2, 10, 0.1, 0), Thinking::kEffort,
     "low medium high", true},
    {"gemini-3.8-flash", "Gemini 3.8 Flash", 1'048'576, 65'536, Usd(0.75, 3.75, 0.075, 0),
     Thinking::kEffort, "low medium high", true},
    {"gemini-3.7-flash", "Gemini 3.7 Flash", 1'048'576, 65'536, Usd(0.75, 3.75, 0.075, 0),
     Thinking::kEffort, "low medium high", true},
    {"gemini-3.6-flash", "Gemini 3.6 Flash", 1'048'576, 65'536, Usd(0.75, 3.75, 0.075, 0),
     Thinking::kEffort, "minimal low medium high", true},
    {"gemini-3.5-flash", "Gemini 3.5 Flash", 1'048'576, 65'536, Usd(1.5, 9, 0.15, 0),
     Thinking::kEffort, "minimal low medium high", true},
    {"gemini-3.5-flash-lite", "Gemini 3.5 Flash Lite", 1'048'576, 65'536, Usd(0.3, 2.5, 0.03, 0),
     Thinking::kEffort, "minimal low medium high", true},
    {"gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview", 1'048'576, 65'536, Usd(2, 12, 0.2, 0),
     Thinking::kEffort, "low medium high", true},
    {"gemini-3-flash-preview", "Gemini 3 Flash Preview", 1'048'576, 65'536, Usd(0.5, 3, 0.05, 0),
     Thinking::kEffort, "minimal low medium high", true},
    {"gemini-2.5-pro", "Gemini 2.5 Pro", 1'048'576, 65'536, Usd(1.25, 10, 0.125, 0),
     Thinking::kBudget, "", true},
    {"gemini-2.5-flash", "Gemini 2.5 Flash", 1'048'576, 65'536, Usd(0.3, 2.5, 0.03, 0),
     Thinking::kBudget, "", true},
    {"gemini-2.5-flash-lite", "Gemini 2.5 Flash-Lite", 1'048'576, 65'536, Usd(0.1, 0.4, 0.01, 0),
     Thinking::kBudget, "", true},
};

constexpr ModelFacts kDeepSeek[] = {
    {"deepseek-v4-pro", "DeepSeek V4 Pro", 1'000'000, 384'000, Usd(1.32, 3.96, 0.044, 0),
     Thinking::kEffort, "high max", false},
    {"deepseek-flash", "DeepSeek V4.1 Flash", 1'000'000, 384'000, Usd(0.3, 1.2, 0.006, 0),
     Thinking::kEffort, "low high max", true},
};

constexpr ModelFacts kGroq[] = {
    {"openai/gpt-oss-120b", "GPT OSS 120B", 131'072, 65'536, Usd(0.15, 0.6, 0.075, 0),
     Thinking::kEffort, "low medium high", false},
    {"openai/gpt-oss-20b", "GPT OSS 20B", 131'072, 65'536, Usd(0.075, 0.3, 0.0375, 0),
     Thinking::kEffort, "low medium high", false},
    {"qwen/qwen3.8-27b", "Qwen3.8 27B", 131'072, 16'384, Usd(0.8, 4, 0, 0), Thinking::kEffort,
     "none low medium high", true},
    {"llama-3.3-70b-versatile", "Llama 3.3 70B", 131'072, 32'768, Usd(0.59, 0.79, 0, 0),
     Thinking::kNone, "", false},
    {"llama-3.1-8b-instant", "Llama 3.1 8B", 131'072, 131'072, Usd(0.05, 0.08, 0, 0),
     Thinking::kNone, "", false},
};

constexpr ModelFacts kMistral[] = {
    {"mistral-large-4", "Mistral Large 4", 1'048'576, 262'144, Usd(0.7, 2.1, 0.07, 0),
     Thinking::kEffort, "low medium high", true},
    {"mistral-medium-latest", "Mistral Medium", 262'144, 262'144, Usd(1.5, 7.5, 0.15, 0),
     Thinking::kEffort, "none high", true},
    {"mistral-small-latest", "Mistral Small", 262'144, 256'000, Usd(0.15, 0.6, 0.015, 0),
     Thinking::kEffort, "none high", true},
    {"devstral-latest", "Devstral 2", 262'144, 262'144, Usd(0.4, 2, 0.04, 0), Thinking::kNone, "",
     false},
    {"codestral-latest", "Codestral", 256'000, 4'096, Usd(0.3, 0.9, 0.03, 0), Thinking::kNone, "",
     false},
};

constexpr ModelFacts kXai[] = {
    {"grok-4.7", "Grok 4.7", 500'000, 500'000, Usd(2, 6, 0.5, 0), Thinking::kEffort,
     "low medium high xhigh", true},
    {"grok-4.6", "Grok 4.6", 500'000, 500'000, Usd(2, 6, 0.5, 0), Thinking::kEffort,
     "low medium high xhigh", true},
    {"grok-4.5", "Grok 4.5", 500'000, 500'000, Usd(2, 6, 0.3, 0), Thinking::kEffort,
     "low medium high xhigh", true},
    {"grok-4.3", "Grok 4.3", 1'000'000, 30'000, Usd(1.25, 2.5, 0.2, 0), Thinking::kEffort,
     "none low medium high xhigh", true},
};

constexpr ModelFacts kOpenRouter[] = {
    {"anthropic/claude-opus-5.5", "Claude Opus 5.5", 1'000'000, 128'000, Usd(4, 20, 0.2, 5),
     Thinking::kEffort, "low medium high xhigh max", true},
    {"anthropic/claude-sonnet-5.5", "Claude Sonnet 5.5", 1'000'000, 128'000, Usd(2, 10, 0.1, 2.5),
     Thinking::kEffort, "low medium high xhigh max", true},
    {"openai/gpt-6.1-sol", "GPT-6.1 Sol", 1'050'000, 128'000, Usd(2, 10, 0.1, 2.5),
     Thinking::kEffort, "low medium high xhigh max", true},
    {"deepseek/deepseek-v4-pro", "DeepSeek V4 Pro", 1'048'576, 393'216, Usd(1.6, 3.2, 0.135, 0),
     Thinking::kEffort, "none high xhigh", false},
    {"minimax/minimax-m3", "MiniMax M3", 524'288, 512'000, Usd(0.3, 1.2, 0.06, 0),
     Thinking::kEffort, "low medium high", true},
};

// What compatible servers do not take.
constexpr Quirks kPlain = {.no_cache_key = true, .no_metadata = true};
constexpr Quirks kLocal = {.max_tokens_name = true, .no_cache_key = true, .no_metadata = true};
constexpr Quirks kOpenRouterQuirks = {.no_cache_key = true,
                                      .no_metadata = true,
                                      .echo_reasoning_details = true,
                                      .effort_object = true};
constexpr Quirks kDeepSeekQuirks = {.max_tokens_name = true,
                                    .no_cache_key = true,
                                    .no_metadata = true,
                                    .echo_reasoning = true,
                                    .no_json_schema = true};
constexpr Quirks kMistralQuirks = {
    .max_tokens_name = true, .no_stream_options = true, .no_cache_key = true, .no_metadata = true};

constexpr ProviderFacts kProviders[] = {
    {"anthropic",
     Dialect::kAnthropicMessages,
     "https://api.anthropic.com",
     "ANTHROPIC_API_KEY",
     false,
     {},
     kAnthropic},
    {"openai",
     Dialect::kOpenAiResponses,
     "https://api.openai.com/v1",
     "OPENAI_API_KEY",
     false,
     {},
     kOpenAi},
    {"google",
     Dialect::kGoogleGenerativeAi,
     "https://generativelanguage.googleapis.com/v1beta",
     "GEMINI_API_KEY",
     false,
     {},
     kGoogle},
    {"openrouter", Dialect::kOpenAiCompletions, "https://openrouter.ai/api/v1",
     "OPENROUTER_API_KEY", false, kOpenRouterQuirks, kOpenRouter},
    {"deepseek", Dialect::kOpenAiCompletions, "https://api.deepseek.com", "DEEPSEEK_API_KEY", false,
     kDeepSeekQuirks, kDeepSeek},
    {"groq", Dialect::kOpenAiCompletions, "https://api.groq.com/openai/v1", "GROQ_API_KEY", false,
     kPlain, kGroq},
    {"mistral", Dialect::kOpenAiCompletions, "https://api.mistral.ai/v1", "MISTRAL_API_KEY", false,
     kMistralQuirks, kMistral},
    {"xai", Dialect::kOpenAiResponses, "https://api.x.ai/v1", "XAI_API_KEY", false, {}, kXai},
    {"ollama",
     Dialect::kOpenAiCompletions,
     "http://127.0.0.1:11434/v1",
     "OLLAMA_API_KEY",
     true,
     kLocal,
     {}},
    {"lmstudio",
     Dialect::kOpenAiCompletions,
     "http://127.0.0.1:1234/v1",
     "LMSTUDIO_API_KEY",
     true,
     kLocal,
     {}},
    {"llama.cpp",
     Dialect::kOpenAiCompletions,
     "http://127.0.0.1:8080/v1",
     "LLAMACPP_API_KEY",
     true,
     kLocal,
     {}},
    {"vllm",
     Dialect::kOpenAiCompletions,
     "http://127.0.0.1:8000/v1",
     "VLLM_API_KEY",
     true,
     kLocal,
     {}},
};

}  // namespace

std::span<const ProviderFacts> Providers() { return kProviders; }

}  // namespace stet::provider
