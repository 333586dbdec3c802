import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import { SIGN_IN_METHODS, type SignInMethod } from '../domain/session';

export class SessionDto {
  @IdProperty('sess_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('The admin who signed in.', 'admin_01h455vb4pex5vsknk084sn02q')
  readonly admin_id!: string;
  @BooleanProperty(
    'False once it ended: by sign-out, revocation or expiry, or because the password or second factor changed or the admin was deactivated.',
    true,
  )
  readonly is_active!: boolean;
  @EnumProperty(SIGN_IN_METHODS, 'How the admin signed in.', 'password')
  readonly method!: SignInMethod;
  @TextProperty('IP address at sign-in.', '203.0.113.7') readonly address!: string;
  @TextProperty(
    'User agent at sign-in; empty if none was sent.',
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  )
  readonly user_agent!: string;
  @InstantProperty('When the admin signed in.') readonly created_at!: string;
  @InstantProperty(
    'When it was last used, to within a minute. It ends 12 hours after its last use.',
  )
  readonly last_used_at!: string;
  @InstantProperty('When it ends at the latest: 7 days after the sign-in.', {
    example: '2026-03-08T09:30:00.000Z',
  })
  readonly expires_at!: string;
  @InstantProperty('When it was signed out or revoked; otherwise null.', {
    nullable: true,
    example: null,
  })
  readonly ended_at!: string | null;
}

export const toSessionDto = mapperTo(SessionDto);
