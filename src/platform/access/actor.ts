import type { NextFunction, Request, Response } from 'express';
import { SAFE_METHODS } from '../../core/safe-methods';
import { CallScope } from '../concurrency';
import { ANONYMOUS, type Principal, principalOf, principalWith } from './principal';

/** Actor of changes that no request or command makes, such as the changes of background jobs. */
const WORKER = 'worker';

/** A request or a command that may change something, and its caller. */
interface Call {
  /** Changes only in {@link actAsAdmin}. */
  principal: Principal;
  /** Null for a command. */
  readonly request: Request | null;
}

const calls = new CallScope<Call>();

/**
 * Returns the actor of changes that the current work makes: the id of its caller, or `worker` if the work belongs to no
 * call.
 */
export function currentActor(): string {
  return calls.current?.principal.id ?? WORKER;
}

/**
 * Returns the call that the current work belongs to. Undefined for the engine's own work, and for requests that
 * {@link actAsCaller} skips.
 */
export function currentCall(): Call | undefined {
  return calls.current;
}

/**
 * Runs a command with all scopes, because the user of a command line can write to the database anyway. The changes of
 * the command have the actor `command:<name>`.
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
 * Makes an admin the actor of the changes of the current request. Call it when a request without a credential, such as
 * a sign-in, has identified the admin. Does nothing if the caller is known already.
 */
export function actAsAdmin(id: string): void {
  const call = calls.current;
  if (call?.principal === ANONYMOUS) call.principal = principalWith('admin', id, []);
}

/**
 * Maximum time for which a request keeps its actor after its client has disconnected. No event reports when the work of
 * such a request ends.
 */
const MAX_WORK_AFTER_DISCONNECT_MS = 600_000;

/**
 * Returns middleware that makes the caller of a request the actor of its changes. It skips reads, and requests whose
 * changes are written in batches.
 *
 * Place it after the middleware that reads the body: body callbacks run outside the asynchronous context of the
 * request, so the actor would be lost.
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
    const end = calls.start({ principal: principalOf(request), request }, next);
    const endLater = (): void => {
      // The work of a request continues after the client has disconnected, and no event reports the end of the work.
      if (response.writableFinished) end();
      else setTimeout(end, MAX_WORK_AFTER_DISCONNECT_MS).unref();
    };
    if (response.closed) endLater();
    else response.once('close', endLater);
  };
}
