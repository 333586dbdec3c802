import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  createParamDecorator,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { GrantedScope } from '../../core/access';
import { principalOf, requireHeldScopes } from '../access';
import { Configuration } from '../config';
import {
  idempotencyKeyRequired,
  idempotencyKeyReused,
  isTemporaryRefusal,
  type ProblemKind,
  ProblemError,
} from '../errors';
import { StoredRefusal } from '../http/stored-refusal';
import { problemResponse } from '../http/problem-response';
import { requestIdOf } from '../http/request-id';
import { etagOf } from '../http/versions';
import { JSON_MEDIA_TYPE } from './created-answer';
import { Idempotency, type KeyedOutcome } from './idempotency';
import type { Answer } from './idempotency.types';
import { idempotencyKeyOf, toKeyedRequest } from './keyed-request';
import { SealedAnswers } from './sealed-answers';

interface PhasedOptions {
  readonly bodyField: string | null;
}

const IN_PHASES = 'idempotency:in-phases';

/**
 * Marks a POST whose work takes several transactions, for example with a call to a payment provider between them. The
 * service that does the work must claim the idempotency key and store the answer.
 * @param bodyField body field that may contain the key instead of the header; null: there is no such field
 */
export const IdempotentInPhases = (bodyField: string | null = null): MethodDecorator =>
  SetMetadata(IN_PHASES, { bodyField } satisfies PhasedOptions);

const SECRET_ANSWER = 'idempotency:secret-answer';

/**
 * Marks a POST whose answer contains a secret. The stored answer is encrypted. If the answer has a field `scopes`, only
 * a caller that holds all these scopes gets it.
 */
export const SecretAnswer = (): MethodDecorator => SetMetadata(SECRET_ANSWER, true);

/** Metadata key of a POST that needs an idempotency key if the setting `IDEMPOTENCY_KEYS` is `required`. */
export const REQUIRES_KEY = 'idempotency:requires-key';

export const IdempotencyKey = createParamDecorator(
  (bodyField: string | null, context: ExecutionContext) =>
    idempotencyKeyOf(context.switchToHttp().getRequest<Request>(), bodyField),
);

/**
 * Kinds of errors that depend on stored data. Such an error is stored as the response, unless it is temporary or
 * `idempotency_key_reused`.
 */
const KEPT: ReadonlySet<ProblemKind> = new Set(['not_found', 'conflict', 'rule_broken']);

/** Conversions of an answer: one before it is stored, and one before it is sent. */
interface AnswerForms {
  readonly stored: (answer: Answer) => Promise<Answer>;
  readonly sent: (answer: Answer) => Answer;
}

const IN_CLEAR: AnswerForms = {
  stored: (answer) => Promise.resolve(answer),
  sent: (answer) => answer,
};

/** Gives a POST with an `Idempotency-Key` one effect and one answer, even if the request is sent several times. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly idempotency: Idempotency,
    private readonly reflector: Reflector,
    private readonly sealedAnswers: SealedAnswers,
    private readonly configuration: Configuration,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const inPhases = this.reflector.get<PhasedOptions | undefined>(IN_PHASES, context.getHandler());
    const bodyField = inPhases?.bodyField ?? null;
    const key = idempotencyKeyOf(request, bodyField);
    // A preview changes nothing and claims no key, so that the later request without `preview` can use the same key.
    if (request.query['preview'] === 'true') return next.handle();
    if (key === null) {
      if (this.needsKey(context)) throw idempotencyKeyRequired();
      if (inPhases === undefined) return next.handle();
      return from(this.idempotency.inPhasesWithoutKey(() => lastValueFrom(next.handle())));
    }

    const isSecret =
      this.reflector.get<true | undefined>(SECRET_ANSWER, context.getHandler()) === true;
    // The service of a POST marked with `IdempotentInPhases` stores the answer itself, unencrypted.
    if (isSecret && inPhases !== undefined) throw new Error('A secret is not answered in phases.');
    const forms = isSecret ? this.sealedFor(key, request) : IN_CLEAR;
    const response = http.getResponse<Response>();
    const keyed = toKeyedRequest(request, key, bodyField);
    const work = {
      act: async () => answerOf(response, await lastValueFrom(next.handle())),
      answerTo: (error: unknown) => refusalOf(error, requestIdOf(request)),
      stored: forms.stored,
    };
    const outcome =
      inPhases === undefined
        ? this.idempotency.atomically(keyed, work)
        : this.idempotency.inPhases(keyed, work);
    return from(
      outcome.then(({ answer, replayed }) =>
        send(response, { answer: forms.sent(answer), replayed }),
      ),
    );
  }

  private needsKey(context: ExecutionContext): boolean {
    return (
      this.configuration.idempotencyKeys === 'required' &&
      this.reflector.get<true | undefined>(REQUIRES_KEY, context.getHandler()) === true
    );
  }

  private sealedFor(key: string, request: Request): AnswerForms {
    return {
      stored: (answer) => this.sealedAnswers.seal(answer, key),
      sent: (sealed) => {
        const answer = this.sealedAnswers.open(sealed, key);
        // The caller may have lost scopes since the first request.
        const { scopes = [] } = JSON.parse(answer.body) as {
          readonly scopes?: readonly GrantedScope[];
        };
        requireHeldScopes(scopes, principalOf(request));
        return answer;
      },
    };
  }
}

function answerOf(response: Response, body: unknown): Answer {
  const contentType = response.getHeader('Content-Type');
  const etag = etagOf(body);
  return {
    // Nest has already set the success status of the route.
    status: response.statusCode,
    headers: {
      'Content-Type': typeof contentType === 'string' ? contentType : JSON_MEDIA_TYPE,
      ...(etag !== undefined && { ETag: etag }),
    },
    body: JSON.stringify(body ?? {}),
  };
}

function refusalOf(error: unknown, requestId: string): Answer | null {
  if (!(error instanceof ProblemError) || !KEPT.has(error.definition.kind)) return null;
  // The client is to send the same request again.
  if (isTemporaryRefusal(error)) return null;
  // The key belongs to another request, whose answer must not be replaced.
  if (error.definition === idempotencyKeyReused.definition) return null;
  const { status, headers, body } = problemResponse(error, requestId);
  return { status, headers, body: JSON.stringify(body) };
}

/**
 * Sets the headers of the response, and returns its body. The body is a string, so Nest sends it unchanged.
 * @throws {StoredRefusal} if the answer is a refusal
 */
function send(response: Response, { answer, replayed }: KeyedOutcome): string {
  if (replayed) response.setHeader('Idempotent-Replayed', 'true');
  if (answer.status >= 400) throw new StoredRefusal(answer.status, answer.headers, answer.body);
  response.set(answer.headers);
  return answer.body;
}
