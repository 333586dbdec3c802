import { type ReactNode, useState } from 'react';
import { $api, isNotFound, type Schemas, send } from '../api/client';
import { SECOND_FACTOR_HINT, secondFactorCode } from '../api/second-factor-code';
import { showInstant, showText } from '../format/text';
import { Button } from '../ui/button';
import { ActionDialog, Dialog } from '../ui/dialog';
import { TextInput } from '../ui/field';
import { Failure } from '../ui/loaded';
import { Card, Details, Problem } from '../ui/page';
import { useSingleMutation } from '../ui/single-mutation';
import { useStay } from '../ui/stay';
import { Status } from '../ui/status';
import css from '../ui/ui.module.css';

type Enrolment = Schemas['SecondFactorEnrolmentDto'];
type RecoveryCodes = Schemas['RecoveryCodesDto'];

const PATH = '/v1/second-factor';
const WAITS_FOR_CODES = 'Wait for the recovery codes: they are shown once.';

interface CodeDialogProps<Answer> {
  readonly title: string;
  readonly submitLabel: string;
  readonly path: string;
  /** True if a recovery code can be typed instead of a code of the authenticator. */
  readonly takesRecoveryCode?: boolean;
  readonly done: string;
  readonly staysFor?: string;
  readonly onDone: (answer: Answer) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Sends a change of the second factor with a code of the authenticator. */
function CodeDialog<Answer>(props: CodeDialogProps<Answer>): ReactNode {
  const { path, takesRecoveryCode = false, done, children, ...dialog } = props;
  const [text, setText] = useState('');
  const code = secondFactorCode(text);
  const body = takesRecoveryCode || code?.recovery_code === undefined ? code : null;
  return (
    <ActionDialog<Answer>
      {...dialog}
      request={() => body && { method: 'POST', path, body }}
      done={() => done}
    >
      {children}
      <TextInput
        {...(takesRecoveryCode
          ? { label: 'Code of your authenticator, or a recovery code', hint: SECOND_FACTOR_HINT }
          : { label: 'Code of your authenticator', hint: 'Six digits.', inputMode: 'numeric' })}
        autoComplete="one-time-code"
        autoFocus
        value={text}
        onChange={setText}
      />
    </ActionDialog>
  );
}

function EnrolDialog({
  enrolment,
  onDone,
  onClose,
}: {
  readonly enrolment: Enrolment;
  readonly onDone: (codes: RecoveryCodes) => void;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <CodeDialog<RecoveryCodes>
      title="Set up the second factor"
      submitLabel="Enable"
      path={`${PATH}/confirm`}
      done="The second factor is enabled. Your other sessions have ended."
      staysFor={WAITS_FOR_CODES}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        Add this key to your authenticator app, or{' '}
        <a href={enrolment.otpauth_uri}>open it in the app</a> of this device. It is shown once.
      </p>
      <p className="mono">{enrolment.secret.replace(/(.{4})(?=.)/g, '$1 ')}</p>
    </CodeDialog>
  );
}

function CodesDialog({
  codes,
  onClose,
}: {
  readonly codes: RecoveryCodes;
  readonly onClose: () => void;
}): ReactNode {
  // The search of the frame, the browser's way back or a reload would lose the codes.
  useStay('Confirm first that you have kept the recovery codes.');
  return (
    <Dialog title="Recovery codes" onClose={null}>
      <p>Each signs you in once without the authenticator. Keep them; they are shown once.</p>
      <ul className="mono">
        {codes.recovery_codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className={css['row']}>
        <span />
        <Button kind="primary" onClick={onClose}>
          I have kept them
        </Button>
      </div>
    </Dialog>
  );
}

type Step = 'replace' | 'disable' | Enrolment | RecoveryCodes | null;

/** Shows the second factor of the admin who is signed in, and enrols, renews or removes it. */
export function SecondFactor(): ReactNode {
  const [step, setStep] = useState<Step>(null);
  const factor = $api.useQuery('get', PATH);
  const begin = useSingleMutation({
    mutationFn: () => send<Enrolment>({ method: 'POST', path: PATH }),
    onSuccess: setStep,
  });
  const close = (): void => setStep(null);
  const isNone = isNotFound(factor.error);
  const isKnown = isNone || (factor.data !== undefined && factor.error === null);
  const isEnabled = isKnown && !isNone && factor.data?.is_enabled === true;
  return (
    <Card
      title="Second factor"
      aside={
        !isKnown ? undefined : isEnabled ? (
          <>
            <Button onClick={() => setStep('replace')}>New recovery codes…</Button>
            <Button onClick={() => setStep('disable')}>Remove…</Button>
          </>
        ) : (
          <Button kind="primary" disabled={begin.isPending} onClick={() => begin.mutate()}>
            Set up…
          </Button>
        )
      }
    >
      {!isNone && <Failure query={factor} />}
      <Problem error={begin.error} />
      <Details
        items={[
          [
            'Status',
            isKnown ? (
              <Status key="status" value={isEnabled ? 'active' : 'none'} />
            ) : (
              showText(null)
            ),
          ],
          ['Enabled', showInstant(isEnabled ? factor.data?.enabled_at : null)],
          ['Recovery codes left', isEnabled ? String(factor.data?.codes_left ?? 0) : '–'],
        ]}
      />
      {step === 'replace' && (
        <CodeDialog<RecoveryCodes>
          title="New recovery codes"
          submitLabel="Replace the codes"
          path={`${PATH}/recovery-codes`}
          done="The former recovery codes have ended."
          staysFor={WAITS_FOR_CODES}
          onDone={setStep}
          onClose={close}
        >
          <p>The former codes end.</p>
        </CodeDialog>
      )}
      {step === 'disable' && (
        <CodeDialog
          title="Remove the second factor"
          submitLabel="Remove"
          path={`${PATH}/disable`}
          takesRecoveryCode
          done="The second factor is removed. Your other sessions have ended."
          onDone={() => undefined}
          onClose={close}
        >
          <p>Your password alone signs you in afterwards.</p>
        </CodeDialog>
      )}
      {step !== null && typeof step === 'object' && 'secret' in step && (
        <EnrolDialog enrolment={step} onDone={setStep} onClose={close} />
      )}
      {step !== null && typeof step === 'object' && 'recovery_codes' in step && (
        <CodesDialog codes={step} onClose={close} />
      )}
    </Card>
  );
}
