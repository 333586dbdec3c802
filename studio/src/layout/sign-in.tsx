import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { RequestFailed, type Schemas, send } from '../api/client';
import { SECOND_FACTOR_HINT, secondFactorCode } from '../api/second-factor-code';
import { serviceSettings } from '../settings';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { TextInput } from '../ui/field';
import { Card, Problem } from '../ui/page';
import { useSingleMutation } from '../ui/single-mutation';
import css from '../ui/ui.module.css';
import type { CurrentSession } from '../api/objects';
import { begin } from './session';

/** Error code if the password was right, but the code of the second factor was missing. The form then asks for the code. */
const CODE_MISSING = 'second_factor_required';
const ASKS_FOR_CODE: readonly string[] = [CODE_MISSING, 'second_factor_failed'];

const codeOf = (error: unknown): string =>
  error instanceof RequestFailed ? (error.problem?.code ?? '') : '';

/** Returns the body of a sign-in request, without a code if none is typed; null while the code is incomplete. */
function signInBody(
  email: string,
  password: string,
  typed: string,
): Schemas['CreateSessionDto'] | null {
  const code = typed.trim() === '' ? {} : secondFactorCode(typed);
  return code && { email, password, ...code };
}

function SignInForm({ oidc }: { readonly oidc: ReactNode }): ReactNode {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [asksForCode, setAsksForCode] = useState(false);
  const cache = useQueryClient();
  const body = signInBody(email.trim(), password, code);
  const signIn = useSingleMutation({
    mutationFn: (sent: Schemas['CreateSessionDto']) =>
      send<CurrentSession>({ method: 'POST', path: '/v1/session', body: sent }),
    onSuccess: (session) => begin(cache, session),
    onError: (error) => setAsksForCode(asksForCode || ASKS_FOR_CODE.includes(codeOf(error))),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (body !== null) signIn.mutate(body);
      }}
    >
      <TextInput
        label="Email"
        inputMode="email"
        autoComplete="username"
        autoFocus
        isRequired
        value={email}
        onChange={setEmail}
      />
      <TextInput
        label="Password"
        type="password"
        autoComplete="current-password"
        isRequired
        value={password}
        onChange={setPassword}
      />
      {asksForCode && (
        <TextInput
          label="Code of your authenticator, or a recovery code"
          hint={SECOND_FACTOR_HINT}
          autoComplete="one-time-code"
          autoFocus
          value={code}
          onChange={setCode}
        />
      )}
      {codeOf(signIn.error) !== CODE_MISSING && <Problem error={signIn.error} />}
      <div className={css['row']}>
        {serviceSettings().open_id_connect ? oidc : <span />}
        <Button type="submit" kind="primary" disabled={body === null || signIn.isPending}>
          Sign in
        </Button>
      </div>
    </form>
  );
}

/** Maximum length of the path to which a sign-in with OpenID Connect returns. */
const MAX_RETURN_LENGTH = 500;

/**
 * Returns the address of a sign-in with OpenID Connect that leads back to the present page. Leaves out the filters of
 * the page if they are too long.
 */
function openIdAddress(): string {
  const { pathname, search } = location;
  const page = pathname + search;
  const returnTo = page.length > MAX_RETURN_LENGTH ? pathname : page;
  return `/v1/session/oidc?return_to=${encodeURIComponent(returnTo)}`;
}

export interface SignInPageProps {
  /** Text of a failed sign-in with OpenID Connect; null if none has failed. */
  readonly refusal: string | null;
}

export function SignInPage({ refusal }: SignInPageProps): ReactNode {
  return (
    <main id="main" className="sign-in">
      <h1>Billing console</h1>
      <Card title="Sign in">
        <div className={css['body']}>
          {refusal !== null && (
            <p role="alert" className={css['problem']}>
              {refusal}
            </p>
          )}
          <SignInForm
            oidc={
              <a className={css['button']} href={openIdAddress()}>
                Sign in with OpenID Connect
              </a>
            }
          />
        </div>
      </Card>
      <p className={css['hint']}>
        No account yet? Run <code>npm run studio -- create-admin</code> where the service runs.
      </p>
    </main>
  );
}

export interface SignInAgainProps {
  /** Email of the admin whose session has ended. */
  readonly email: string;
}

/** Asks for a sign-in in front of a page whose session has ended, so that input on the page is not lost. */
export function SignInAgainDialog({ email }: SignInAgainProps): ReactNode {
  return (
    <Dialog title="Your session has ended. Sign in again." onClose={null}>
      <p className={css['hint']}>
        What you typed is kept if {email} signs in again. If another admin signs in, it is lost.
      </p>
      <SignInForm
        oidc={
          <a className={css['button']} href={openIdAddress()} target="_blank" rel="noreferrer">
            Sign in with OpenID Connect in another tab
          </a>
        }
      />
    </Dialog>
  );
}
