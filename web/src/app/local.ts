/** local answers target if it is a path of this origin, and '/' otherwise: an address never leads elsewhere after a log-in. */
export function local(target: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(target) ? target : '/';
}
