// The types that schemas are made of: what goes over the wire, as the official client libraries have it.
import type * as Anthropic from '@anthropic-ai/sdk/resources/messages/messages';
import type * as Google from '@google/genai';
import type * as Completions from 'openai/resources/chat/completions/completions';
import type * as Responses from 'openai/resources/responses/responses';

export type AnthropicMessages = Anthropic.MessageCreateParamsStreaming;
export type AnthropicMessagesEvent = Anthropic.RawMessageStreamEvent;

export type OpenAiCompletions = Completions.ChatCompletionCreateParamsStreaming;
export type OpenAiCompletionsEvent = Completions.ChatCompletionChunk;

export type OpenAiResponses = Responses.ResponseCreateParamsStreaming;
export type OpenAiResponsesEvent = Responses.ResponseStreamEvent;

/// Google's library has one flat object for its callers; on the wire it is split like this.
export interface GoogleGenerativeAi {
  contents: Google.Content[];
  systemInstruction?: Google.Content;
  tools?: Google.Tool[];
  toolConfig?: Google.ToolConfig;
  safetySettings?: Google.SafetySetting[];
  generationConfig?: Google.GenerationConfig;
  cachedContent?: string;
  labels?: Record<string, string>;
}
/// A class there, with accessors that are not on the wire.
export type GoogleGenerativeAiEvent = Pick<
  Google.GenerateContentResponse,
  'candidates' | 'createTime' | 'modelVersion' | 'promptFeedback' | 'responseId' | 'usageMetadata' | 'modelStatus'
>;
