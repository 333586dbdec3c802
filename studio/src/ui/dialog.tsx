import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import {
  type ChangeRequest,
  isSessionOver,
  type ProblemBody,
  RequestFailed,
  send,
} from '../api/client';
import { toCurl } from '../api/curl';
import {
  IdempotencyKeys,
  isUnanswered,
  isUnansweredOfAnother,
  isUnansweredOfUnknown,
  isUnansweredTooLong,
  type KeyedRequest,
} from '../api/idempotency-keys';
import { Button } from './button';
import { IsRepeated } from './field';
import { Problem } from './page';
import { useSingleMutation } from './single-mutation';
import { useStay } from './stay';
import { Toast, toast } from './toast';
import css from './ui.module.css';

export interface DialogProps {
  readonly title: string;
  /** Called when the user closes the dialog. Null while it cannot be closed. */
  readonly onClose: (() => void) | null;
  readonly children: ReactNode;
}

/** A modal dialog, open as long as it is rendered. */
export function Dialog({ title, onClose, children }: DialogProps): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Uses a layout effect, because its cleanup runs while the dialog is in the document. Closing then returns the focus.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      className={css['dialog']}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClose={({ currentTarget }) => {
        // Browsers close a dialog at the second Escape, even if the page has prevented it.
        if (onClose === null && !currentTarget.open) currentTarget.showModal();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
      {/* The toast of the page lies behind the dialog. */}
      <Toast />
    </dialog>
  );
}

/** Copies the request as a curl command. Shows the command if the browser has no clipboard, as on plain HTTP. */
export function CopyAsCurl({ request }: { readonly request: ChangeRequest | null }): ReactNode {
  const [shown, setShown] = useState(false);
  if (request === null) {
    return (
      <Button kind="quiet" disabled>
        Copy as curl
      </Button>
    );
  }
  const text = toCurl(request);
  const copy = (): void => {
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard === undefined) setShown(true);
    else
      clipboard.writeText(text).then(
        () => toast('Copied. Set API_KEY to one of your keys.'),
        () => setShown(true),
      );
  };
  if (!shown) {
    return (
      <Button kind="quiet" onClick={copy}>
        Copy as curl
      </Button>
    );
  }
  return (
    <textarea
      className={`${css['curl'] ?? ''} mono`}
      readOnly
      aria-label="The request as a curl command"
      value={text}
      onFocus={(event) => event.target.select()}
    />
  );
}

export interface ActionDialogProps<Answer> {
  readonly title: string;
  /** Name of the action without data of the object, which another admin may see; default: the title. */
  readonly action?: string;
  readonly submitLabel: string;
  readonly kind?: 'primary' | 'danger';
  /** Returns the request, or null while the fields are incomplete. Is called often, so it must have no side effects. */
  readonly request: (idempotencyKey: string) => ChangeRequest | null;
  /**
   * False while the data that the user confirms is not shown, or while this data does not allow the request. Does not
   * hinder the repetition of a request that got no clear answer.
   */
  readonly isReady?: boolean;
  /**
   * Entity tag of the object as the dialog shows it for the present input; undefined while nothing is shown for it. A
   * repetition is then sent with the tag that was confirmed.
   */
  readonly ifMatch?: string | undefined;
  /** Returns the message to show after a success. */
  readonly done: (answer: Answer) => string;
  readonly onDone?: (answer: Answer) => void;
  /**
   * Reason why the user cannot open another page while the request is sent, such as an answer that is shown once. By
   * default, the user can, and then sees only the message.
   */
  readonly staysFor?: string;
  /** Returns the text to show for a problem, or null for the detail of the service. */
  readonly explain?: (problem: ProblemBody) => string | null;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** A dialog with fields that sends one request and shows its error. After an answer, all data is read again. */
export function ActionDialog<Answer>({
  title,
  action = title,
  submitLabel,
  kind = 'primary',
  request,
  isReady = true,
  ifMatch,
  done,
  onDone,
  staysFor,
  explain = () => null,
  onClose,
  children,
}: ActionDialogProps<Answer>): ReactNode {
  const [keys] = useState(() => new IdempotencyKeys());
  const cache = useQueryClient();
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const change = useSingleMutation({
    mutationFn: ({ request: sent }: KeyedRequest) => send<Answer>(sent),
    onMutate: (keyed) => keys.begin(keyed, action),
    onSettled: (_, error, keyed) => {
      keys.end(keyed, error);
      // Reads the data again also after an error, because a refusal often means that the page shows an outdated state.
      if (!isSessionOver(error)) void cache.invalidateQueries();
    },
    onSuccess: (answer) => {
      toast(done(answer));
      if (!isShown.current) return;
      onClose();
      // Called last, so that `onDone` can open the next dialog.
      onDone?.(answer);
    },
    onError: (error) => {
      // The user has opened another page meanwhile.
      if (!isShown.current) toast(`${title}: ${error.message}`);
    },
  });
  const built = keys.keyed((key) => {
    const plain = request(key);
    return plain && { ifMatch, ...plain };
  });
  const isRepeated = built !== null && isUnanswered(built);
  const isTooLate = built?.isKeyed === true && isUnansweredTooLong(built);
  const keyed = isReady || isRepeated ? built : null;
  const { isPending } = change;
  useStay(isPending ? (staysFor ?? null) : null);
  return (
    <Dialog title={title} onClose={isPending ? null : onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (keyed !== null) change.mutate(keyed);
        }}
      >
        <IsRepeated value={isRepeated}>{children}</IsRepeated>
        {(change.isIdle || isTooLate) && built?.isKeyed === true && <SentBefore request={built} />}
        {!isTooLate && <Failure error={change.error} sent={change.variables} explain={explain} />}
        <div className={css['row']}>
          <CopyAsCurl request={keyed?.request ?? null} />
          <Button onClick={onClose} disabled={isPending}>
            Close
          </Button>
          <Button type="submit" kind={kind} disabled={keyed === null || isPending}>
            {isPending ? 'Sending…' : submitLabel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Returns a text if the same request was sent before and its outcome is unknown, or else null. */
function sentBefore(request: KeyedRequest): string | null {
  if (isUnansweredTooLong(request)) return SENT_LONG_AGO;
  if (isUnansweredOfUnknown(request)) return SENT_BY_UNKNOWN;
  if (isUnanswered(request)) return SENT_BEFORE;
  return isUnansweredOfAnother(request) ? SENT_BY_ANOTHER : null;
}

/** Says that the same request was sent before, and that its outcome is unknown. */
function SentBefore({ request }: { readonly request: KeyedRequest }): ReactNode {
  const text = sentBefore(request);
  if (text === null) return null;
  return (
    <p className={css['notice']} role="alert">
      {text}
    </p>
  );
}

const REPEATABLE =
  'It is not known if this was done, because the service gave no clear answer. Send it again without a change: it is not done twice.';

const SENT_BEFORE =
  'You sent this before, and the service gave no clear answer. It is sent as the same request again: it is not done twice.';

const SENT_BY_ANOTHER =
  'Another admin sent this here, and the service gave no clear answer. Check first if it was done: sending it does it again.';

const SENT_LONG_AGO =
  'This was sent 29 days ago or earlier, and the service gave no clear answer. Check first if it was done: sending it does it again.';

const SENT_BY_UNKNOWN =
  'This was sent here before, by you or another admin, and the service gave no clear answer. If it was you, it is not done twice. If not, check first if it was done: sending it does it again.';

/** Texts for refusals that the service explains to programs, by error code. */
const TEXTS: Readonly<Record<string, string>> = {
  cross_site_request:
    'Somebody has signed in or out in another tab of this browser. Send it again.',
  payment_method_required:
    'The customer has no default payment method that could be charged. Add one first.',
};

/** Returns the text for people if the service explains a refusal to programs, or else null. */
export function refusalText(error: unknown): string | null {
  const problem = error instanceof RequestFailed ? error.problem : null;
  return problem && (TEXTS[problem.code] ?? null);
}

/** Shows why a change failed. Replaces error texts of the service that are meant for programs. */
function Failure({
  error,
  sent,
  explain,
}: {
  readonly error: unknown;
  readonly explain: (problem: ProblemBody) => string | null;
  /** The request that failed. */
  readonly sent: KeyedRequest | undefined;
}): ReactNode {
  if (error === null || sent === undefined) return null;
  const { isKeyed } = sent;
  const isUnknown = isUnanswered(sent);
  const problem = error instanceof RequestFailed ? error.problem : null;
  const hasChanged = problem?.code === 'precondition_failed';
  if ((hasChanged && isKeyed) || problem?.code === 'plan_version_changed') {
    return (
      <p className={css['notice']} role="alert">
        Somebody has changed it since it was shown here. Nothing was done. Check what is shown now,
        and confirm it again.
      </p>
    );
  }
  if (hasChanged) {
    return (
      <p className={css['notice']} role="alert">
        {isUnknown
          ? 'It has changed since you opened this form, perhaps by your earlier attempt.'
          : 'Somebody has changed it since you opened this form. Nothing was saved.'}{' '}
        Close the form and open it again: it then shows the present values.
      </p>
    );
  }
  if (isSessionOver(error)) {
    const unknown = isKeyed ? REPEATABLE : 'It is not known if your earlier attempt was done.';
    return (
      <p className={css['notice']} role="alert">
        Your session had ended. {isUnknown ? unknown : 'Nothing was done: send it again.'}
      </p>
    );
  }
  const text = problem && (explain(problem) ?? refusalText(error));
  if (!isKeyed || !isUnknown) return <Problem error={error} text={text} />;
  return (
    <>
      {error instanceof RequestFailed && <Problem error={error} text={text} />}
      <p className={css['notice']} role="alert">
        {REPEATABLE}
      </p>
    </>
  );
}
