// Package zoo tells the seeded bugs whether they are active.
//
// The product does not import it. The tests of the top-level package zoo compile the
// product with the bugs of their testdata, and each bug asks [Loose]. Without the build
// tag zoo the package is empty.
package zoo
