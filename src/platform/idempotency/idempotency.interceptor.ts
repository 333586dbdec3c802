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
import { idempotencyKeyReused, type ProblemKind, ProblemError } from '../errors';
import { KeptRefusal } from '../http/kept-refusal';
import { problemResponse } from '../http/problem-response';
import { requestIdOf } from '../http/request-id';
import { SecretBox } from '../secrets';
import { JSON_MEDIA_TYPE } from './answers';
import { Idempotency, type Outcome } from './idempotency';
import type { Answer } from './idempotency.types';
import { idempotencyKeyOf, toKeyedRequest } from './keyed-request';

interface InPhases {
  readonly bodyField: string | null;
}

const IN_PHASES = 'idempotency:in-phases';

/**
 * Marks a POST whose effect has a gateway call between two commits; its service claims and completes the key itself.
 * @param bodyField a field of the body that may carry the key beside the header
 */
export const IdempotentInPhases = (bodyField: string | null = null): MethodDecorator =>
  SetMetadata(IN_PHASES, { bodyField } satisfies InPhases);

const SECRET_ANSWER = 'idempotency:secret-answer';

/** Marks a POST whose answer holds a secret: what is stored with its key is sealed. */
export const SecretAnswer = (): MethodDecorator => SetMetadata(SECRET_ANSWER, true);

/** The key the request was sent with, or null. */
export const IdempotencyKey = createParamDecorator(
  (bodyField: string | null, context: ExecutionContext) =>
    idempotencyKeyOf(context.switchToHttp().getRequest<Request>(), bodyField),
);

/** Refusals that come of the request's effect, and so are its answer for good. */
const KEPT: ReadonlySet<ProblemKind> = new Set(['not_found', 'conflict', 'rule_broken']);

const KEPT_HEADERS = ['Content-Type', 'ETag'] as const;

/** What becomes of an answer on its way to the store, and on its way from there to the caller. */
interface AnswerForms {
  readonly stored: (answer: Answer) => Answer;
  readonly sent: (answer: Answer) => Answer;
}

const IN_CLEAR: AnswerForms = { stored: (answer) => answer, sent: (answer) => answer };

/** Gives a POST with an `Idempotency-Key` one effect and one answer. On every POST, by `Operation`. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly idempotency: Idempotency,
    private readonly reflector: Reflector,
    private readonly secrets: SecretBox,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const inPhases = this.reflector.get<InPhases | undefined>(IN_PHASES, context.getHandler());
    const bodyField = inPhases?.bodyField ?? null;
    const key = idempotencyKeyOf(request, bodyField);
    if (key === null) return next.handle();

    const isSecret =
      this.reflector.get<true | undefined>(SECRET_ANSWER, context.getHandler()) === true;
    // Who completes a key in a phase of its own stores the answer itself, and would store it in clear.
    if (isSecret && inPhases !== undefined) throw new Error('A secret is not answered in phases.');
    const forms = isSecret ? this.sealedFor(key) : IN_CLEAR;
    const response = http.getResponse<Response>();
    const keyed = toKeyedRequest(request, key, bodyField);
    const work = {
      act: async () => forms.stored(answerOf(response, await lastValueFrom(next.handle()))),
      answerTo: (error: unknown) => {
        const refusal = refusalOf(error, requestIdOf(request));
        return refusal === null ? null : forms.stored(refusal);
      },
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

  private sealedFor(key: string): AnswerForms {
    const owner = `idempotency_key ${key}`;
    return {
      stored: (answer) => ({ ...answer, body: this.secrets.seal(answer.body, owner) }),
      sent: (answer) => ({ ...answer, body: this.secrets.open(answer.body, owner) }),
    };
  }
}

function answerOf(response: Response, body: unknown): Answer {
  const headers: Record<string, string> = { 'Content-Type': JSON_MEDIA_TYPE };
  for (const name of KEPT_HEADERS) {
    const value = response.getHeader(name);
    if (typeof value === 'string') headers[name] = value;
  }
  // Nest has set the status of the route's success by now.
  return { status: response.statusCode, headers, body: JSON.stringify(body ?? {}) };
}

function refusalOf(error: unknown, requestId: string): Answer | null {
  if (!(error instanceof ProblemError) || !KEPT.has(error.definition.kind)) return null;
  // The key is another request's: keeping this answer under it would take it from that one.
  if (error.definition === idempotencyKeyReused.definition) return null;
  const { status, headers, body } = problemResponse(error, requestId);
  return { status, headers, body: JSON.stringify(body) };
}

/** Hands the stored bytes to Nest, which sends a string as it is, with the status of the route's success. */
function send(response: Response, { answer, replayed }: Outcome): string {
  if (replayed) response.setHeader('Idempotent-Replayed', 'true');
  if (answer.status >= 400) throw new KeptRefusal(answer.status, answer.headers, answer.body);
  response.set(answer.headers);
  return answer.body;
}
