import { TextField } from '../../../platform/http';

const LONGEST_EMAIL = 254;
const LONGEST_PASSWORD = 1_000;

export class CreateSessionDto {
  @TextField('Email of the admin, in any case.', {
    most: LONGEST_EMAIL,
    example: 'ada@example.com',
  })
  readonly email!: string;
  @TextField('Password whose hash the admin has. Never stored, logged or returned.', {
    most: LONGEST_PASSWORD,
    writeOnly: true,
    example: 'correct horse battery staple',
  })
  readonly password!: string;
}
