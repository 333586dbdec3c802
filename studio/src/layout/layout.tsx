import './layout.css';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ErrorComponentProps, Link, Outlet, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { isSessionOver, reach, RequestFailed, send } from '../api/client';
import { unansweredOf } from '../api/idempotency-keys';
import { serviceSettings } from '../settings';
import { Button } from '../ui/button';
import { PendingPage } from '../ui/loaded';
import { Dialog, refusalText } from '../ui/dialog';
import { Page, Problem } from '../ui/page';
import { useSingleMutation } from '../ui/single-mutation';
import { Toast } from '../ui/toast';
import css from '../ui/ui.module.css';
import { useAccess } from './access';
import { NAVIGATION } from './navigation';
import { openIdRefusal, withoutOpenIdRefusal } from './openid-refusals';
import { Palette } from './palette';
import type { CurrentSession } from '../api/objects';
import { currentSession, leave, type ShownSession } from './session';
import { SignInAgainDialog, SignInPage } from './sign-in';
import { flipTheme } from './theme';

/** Page for unknown addresses. */
export function UnknownPage(): ReactNode {
  return (
    <Page title="No such page">
      <p>The console has no page at this address.</p>
      <p>
        <Link to="/">Home</Link>
      </p>
    </Page>
  );
}

/** Page that cannot be shown, because its code was not loaded or has failed. */
export function FailedPage({ error }: ErrorComponentProps): ReactNode {
  const retry = useQuery({
    queryKey: ['this page'],
    enabled: false,
    gcTime: 0,
    // Loads the console again only if the service answers. A newer version of the service has other files of the page.
    queryFn: async () => {
      const { ok, status } = await reach(window.location.href);
      if (!ok) throw new RequestFailed(`The service answered ${status}.`, status);
      window.location.reload();
      return null;
    },
  });
  const query = { data: undefined, error: retry.error ?? error, refetch: retry.refetch };
  return <PendingPage title="This page cannot be shown" query={query} />;
}

/** The page frame, or the sign-in page if the service requires a session and the browser has none. */
export function Layout(): ReactNode {
  const isOpen = serviceSettings().auth === 'open';
  const session = useQuery({ ...currentSession, enabled: !isOpen });
  const admin = session.data?.admin ?? null;
  const [shown, setShown] = useState(admin);
  const [notice, setNotice] = useState('');
  const [refusal, setRefusal] = useState(() => openIdRefusal(location.search));
  const { history } = useRouter();
  // Otherwise a reload would show the refusal again.
  useEffect(() => {
    if (openIdRefusal(location.search) !== null)
      history.replace(location.pathname + withoutOpenIdRefusal(location.search));
  }, [history]);
  if (admin?.id !== shown?.id) {
    setShown(admin);
    setRefusal(null);
    setNotice(admin && shown ? closedText(admin, shown) : '');
  }
  if (isOpen) return <Frame session={null} notice={null} />;
  if (session.data === null) return <SignInPage refusal={refusal} />;
  if (session.data === undefined) return <PendingPage title="Console" query={session} />;
  return (
    <>
      <Frame
        key={session.data.admin.id}
        session={session.data}
        notice={
          notice === '' ? null : (
            <div className="banner" role="alert">
              {notice} <Button onClick={() => setNotice('')}>Dismiss</Button>
            </div>
          )
        }
      />
      {session.data.hasEnded === true && <SignInAgainDialog email={session.data.admin.email} />}
    </>
  );
}

type Admin = CurrentSession['admin'];

/** Maximum number of actions that a notice names. */
const MAX_NAMED = 3;

/** Returns the text shown after another admin has signed in while the pages of the former one were open. */
function closedText(admin: Admin, former: Admin): string {
  const unknown = unansweredOf(former.id);
  const named = [
    ...unknown.slice(0, MAX_NAMED),
    ...(unknown.length > MAX_NAMED ? ['other changes'] : []),
  ];
  return [
    `Now signed in as ${admin.email}. What ${former.email} had open here was closed.`,
    ...(unknown.length === 0 ? [] : [`It is not known if this was done: ${named.join('; ')}.`]),
  ].join(' ');
}

interface FrameProps {
  readonly session: ShownSession | null;
  readonly notice: ReactNode;
}

function Frame({ session, notice }: FrameProps): ReactNode {
  const [isSearching, setIsSearching] = useState(false);
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  const menuButton = useRef<HTMLSpanElement>(null);
  const router = useRouter();
  const isUsable = session?.hasEnded !== true;
  useEffect(() => {
    if (!isUsable) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      setIsSearching(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isUsable]);
  // Moves the focus to the heading of the opened page, for screen readers and the keyboard.
  useEffect(
    () =>
      router.subscribe('onResolved', ({ pathChanged, fromLocation }) => {
        if (pathChanged && fromLocation !== undefined)
          document.querySelector<HTMLElement>('#main h1')?.focus({ preventScroll: true });
      }),
    [router],
  );
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Menu
        isOpen={isMenuOpen}
        onClose={(takesFocus) => {
          setIsMenuOpen(false);
          if (!takesFocus) menuButton.current?.querySelector('button')?.focus();
        }}
      />
      <div className="content">
        {session === null && (
          <div className="banner" role="note">
            Open access: everybody who reaches this port is an owner. Set AUTH=required to sign in.
          </div>
        )}
        {session?.must_enrol === true && (
          <div className="banner" role="note">
            You need a second factor. Nothing else is allowed until you enrol one in Settings.
          </div>
        )}
        {notice}
        <div className="top" role="toolbar" aria-label="Search and account">
          <span ref={menuButton} className="menu-button">
            <Button aria-expanded={isMenuOpen} onClick={() => setIsMenuOpen(true)}>
              Menu
            </Button>
          </span>
          <button className="search" type="button" onClick={() => setIsSearching(true)}>
            <span>Search or jump to…</span>
            <kbd>Ctrl K</kbd>
          </button>
          <div className="top-end">
            {session !== null && <Account session={session} />}
            <Button onClick={flipTheme}>Theme</Button>
          </div>
        </div>
        <Outlet />
      </div>
      {isSearching && <Palette onClose={() => setIsSearching(false)} />}
      <Toast />
    </div>
  );
}

interface MenuProps {
  /** True while a narrow screen shows the menu above the page. A wide screen always shows the menu. */
  readonly isOpen: boolean;
  /** `takesFocus` is true if the focus has already moved to an element outside the menu. */
  readonly onClose: (takesFocus: boolean) => void;
}

function Menu({ isOpen, onClose }: MenuProps): ReactNode {
  const mayRead = useAccess();
  const menu = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isOpen) menu.current?.querySelector('a')?.focus();
  }, [isOpen]);
  const groups = NAVIGATION.map(
    ([group, pages]) => [group, pages.filter(({ needs }) => mayRead(needs))] as const,
  ).filter(([, pages]) => pages.length > 0);
  return (
    <>
      {isOpen && <div className="menu-backdrop" onClick={() => onClose(false)} />}
      <nav
        ref={menu}
        className="side"
        aria-label="Main"
        data-open={isOpen}
        onKeyDown={({ key }) => {
          if (isOpen && key === 'Escape') onClose(false);
        }}
        onBlur={({ currentTarget, relatedTarget }) => {
          const isOutside = relatedTarget !== null && !currentTarget.contains(relatedTarget);
          if (isOpen && isOutside) onClose(true);
        }}
      >
        <div className="brand">
          <img src="/studio/icon.svg" width="20" height="20" alt="" />
          Billing
        </div>
        {groups.map(([group, pages]) => [
          group !== '' && <h2 key={group}>{group}</h2>,
          ...pages.map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              onClick={() => {
                if (isOpen) onClose(false);
              }}
              activeOptions={{ exact: to === '/' }}
            >
              {label}
            </Link>
          )),
        ])}
      </nav>
    </>
  );
}

function Account({ session }: { readonly session: CurrentSession }): ReactNode {
  const cache = useQueryClient();
  const forget = (): void => leave(cache);
  const signOut = useSingleMutation({
    mutationFn: () => send({ method: 'DELETE', path: '/v1/session' }),
    onSuccess: forget,
    onError: (error) => {
      if (isSessionOver(error)) forget();
    },
  });
  const { name, email, role } = session.admin;
  return (
    <>
      <span className="admin" title={`${name}, ${email}`}>
        {name} · {role}
      </span>
      <Button disabled={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out
      </Button>
      {signOut.error !== null && (
        <Dialog title="You may still be signed in" onClose={signOut.reset}>
          <Problem
            error={signOut.error}
            text={refusalText(signOut.error)}
            onRetry={() => signOut.mutate()}
          />
          <div className={css['row']}>
            <span />
            <Button onClick={signOut.reset}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
