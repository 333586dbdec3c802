import { ValidateBy } from 'class-validator';
import { Field, ListField } from '../../../platform/http';
import { faultOfUrl, MAX_URL_LENGTH } from '../domain/endpoint-url';
import { EVENT_NAME, isEventName, MAX_EVENT_NAME_LENGTH } from '../domain/event-names';
import { MAX_EVENT_NAMES } from '../domain/webhook-endpoint';

/** Checks that a field is an allowed URL. The error message does not repeat the URL, which may contain a credential. */
function IsEndpointUrl(): PropertyDecorator {
  return ValidateBy({
    name: 'isEndpointUrl',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && faultOfUrl(value) === null,
      defaultMessage: (context) => {
        const value: unknown = context?.value;
        const fault = typeof value === 'string' ? faultOfUrl(value) : null;
        return fault?.message ?? 'must be a URL as text';
      },
    },
  });
}

export function EndpointUrlField(options?: { readonly optional: true }): PropertyDecorator {
  return Field(
    // No format: `uri` allows only ASCII, and few validators know `iri`.
    { type: String, maxLength: MAX_URL_LENGTH },
    [IsEndpointUrl()],
    'An http or https URL without user name, password and fragment. Letters of any script.',
    { ...options, example: 'https://example.com/hooks' },
  );
}

export function EventNamesField(options?: { readonly optional: true }): PropertyDecorator {
  return EventListField(
    'Names of the events to send: `resource.happened`, `resource.*` or `*`. Names that match no event type are kept and returned as `unknown_events`.',
    { ...options, example: ['invoice.paid', 'refund.*'] },
  );
}

/** Checks only the form of event names and patterns: the event types need not exist. */
export function EventListField(
  description: string,
  options: { readonly optional?: true; readonly example: readonly string[] },
): PropertyDecorator {
  const isName = {
    validate: isEventName,
    defaultMessage: () => 'must hold names such as invoice.paid, invoice.* or *, without spaces',
  };
  return ListField(
    { type: 'string', maxLength: MAX_EVENT_NAME_LENGTH, pattern: EVENT_NAME.source },
    [ValidateBy({ name: 'isEventName', validator: isName }, { each: true })],
    description,
    { ...options, min: 1, max: MAX_EVENT_NAMES, unique: true },
  );
}
