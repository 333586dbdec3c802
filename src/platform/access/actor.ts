import type { NextFunction, Request, Response } from 'express';
import { SAFE_METHODS } from '../../core/safe-methods';
import { CallScope } from '../concurrency';
import { requestIdOf } from '../http/request-id';
import { operationOf, setOperation } from './operation-name';
import { ANONYMOUS, type Principal, principalOf, principalWith } from './principal';

/** Actor of changes that background jobs make. */
const WORKER = 'worker';

/** A request or command that may change something, with its caller. */
interface Call {
  /** Caller of the request or command. Only {@link actAsAdmin} replaces it. */
  principal: Principal;
  /** Request that the audit log stores; null for a command. */
  readonly request: AuditedRequest | null;
}

/**
 * Values of a request that the audit log stores. A {@link Call} does not hold the request itself. An idle connection
 * keeps the asynchronous context of its last request, and would keep the body of the request in memory.
 */
interface AuditedRequest {
  readonly id: string;
  readonly address: string | null;
  /** Name of the operation. {@link nameOperation} sets it once the handler is known. */
  operation: string;
}

const MAX_ADDRESS_LENGTH = 64;

function auditedRequest(request: Request): AuditedRequest {
  const address = request.ip?.slice(0, MAX_ADDRESS_LENGTH) ?? null;
  return { id: requestIdOf(request), address, operation: operationOf(request) };
}

const calls = new CallScope<Call>();

/** Returns the id of the current caller; `worker` if the current work belongs to no request or command. */
export function currentActor(): string {
  return calls.current?.principal.id ?? WORKER;
}

/**
 * Returns the request or command that the current work belongs to. Undefined for background work, and for requests that
 * {@link actAsCaller} skips.
 */
export function currentCall(): Call | undefined {
  return calls.current;
}

/**
 * Sets the operation name of a request, also for the audit log. Guards call this, because they are the first code that
 * runs after the handler of a request is known.
 */
export function nameOperation(request: Request, operation: string): void {
  setOperation(request, operation);
  const audited = calls.current?.request ?? null;
  if (audited !== null) audited.operation = operation;
}

/**
 * Runs a command with all scopes, because the user of a command line can write to the database anyway. The actor of its
 * changes is `command:<name>`.
 * @param name such as `keys create`
 */
export function actAsCommand(
  name: string,
  work: (caller: Principal) => Promise<void>,
): Promise<void> {
  const principal = principalWith('command', `command:${name}`, ['*']);
  return calls.run({ principal, request: null }, () => work(principal));
}

/**
 * Makes an admin the actor of the changes of the current request. Call it after the admin was identified in a request
 * without a credential, such as a sign-in. Does nothing if the caller is already known.
 */
export function actAsAdmin(id: string): void {
  const call = calls.current;
  if (call?.principal === ANONYMOUS) call.principal = principalWith('admin', id, []);
}

/**
 * A request keeps its actor for this time after its client disconnects, because no event reports when the work ends.
 */
const MAX_WORK_AFTER_DISCONNECT_MS = 600_000;

/**
 * Returns middleware that makes the caller of a request the actor of its changes. It skips reads, and requests whose
 * changes are written in batches.
 *
 * Place it after the middleware that reads the body. Callbacks that read the body run outside the asynchronous context
 * of the request, so they would lose the actor.
 * @param isBatched true for requests whose changes are written together with those of other requests
 * @param isChange true for requests that change something although their HTTP method is safe
 */
export function actAsCaller(
  isBatched: (request: Request) => boolean,
  isChange: (request: Request) => boolean,
) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const isRead = SAFE_METHODS.has(request.method) && !isChange(request);
    if (isRead || isBatched(request)) {
      next();
      return;
    }
    const call: Call = { principal: principalOf(request), request: auditedRequest(request) };
    const end = calls.start(call, next);
    const endLater = (): void => {
      // The work of a request continues after the client has disconnected, and no event reports the end of the work.
      if (response.writableFinished) end();
      else setTimeout(end, MAX_WORK_AFTER_DISCONNECT_MS).unref();
    };
    if (response.closed) endLater();
    else response.once('close', endLater);
  };
}
