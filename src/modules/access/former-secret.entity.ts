import { Entity, PrimaryColumn } from 'typeorm';

/** Former secret of an API key, which must not be stored again as a new key. */
@Entity('api_key_former_secret')
export class FormerSecretEntity {
  /** SHA-256 of the secret, in hex. */
  @PrimaryColumn({ type: 'char', length: 64 }) readonly hash!: string;
}
